import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericEnumSymbol;
import org.apache.avro.generic.GenericFixed;
import org.apache.avro.generic.IndexedRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.reflect.ReflectData;
import org.apache.avro.reflect.ReflectDatumReader;
import org.apache.pulsar.client.impl.schema.AvroSchema;

/**
 * Reads lines of {"writer", "reader", "rows": [hex, …]} and answers each with a line: for each row
 * {"value", "left", "written"} or {"error"}. Bytes stand as Latin-1 text, numbers with a point as
 * the bits of their double in hexadecimal, maps by name. "written" is what Java makes of the value,
 * in hexadecimal, with arrays and maps in blocks that say their size.
 *
 * <p>With "classes" rows are read as Pulsar's Schema.AVRO(Pojo) reads them, into Java's classes of
 * logical types; then the answers have no value, and are {"left"} or {"error"}.
 */
public final class AvroRows {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int PATIENCE = 20;

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode asked = JSON.readTree(line);
            Schema writer = parsed(asked.get("writer"));
            Schema reader = parsed(asked.get("reader"));
            ArrayNode answers = JSON.createArrayNode();
            for (JsonNode row : asked.get("rows")) {
                byte[] payload = HexFormat.of().parseHex(row.asText());
                answers.add(inTime(asked.has("classes")
                    ? () -> classes(writer, reader, payload)
                    : () -> answer(writer, reader, payload)));
            }
            out.println(JSON.writeValueAsString(answers));
            out.flush();
        }
    }

    private static Schema parsed(JsonNode definition) {
        return new Schema.Parser().setValidateDefaults(false).parse(definition.toString());
    }

    /** Avro runs in circles where it skips a block that says a size below zero. */
    private static ObjectNode inTime(Callable<ObjectNode> answer) throws Exception {
        FutureTask<ObjectNode> asked = new FutureTask<>(answer);
        Thread thread = new Thread(asked);
        thread.setDaemon(true);
        thread.start();
        try {
            return asked.get(PATIENCE, TimeUnit.SECONDS);
        } catch (TimeoutException late) {
            return JSON.createObjectNode().put("error", "no answer in " + PATIENCE + " s");
        }
    }

    private static ObjectNode answer(Schema writer, Schema reader, byte[] payload) {
        ObjectNode answer = JSON.createObjectNode();
        try {
            BinaryDecoder decoder = DecoderFactory.get().binaryDecoder(payload, null);
            Object value = new GenericDatumReader<>(writer, reader).read(null, decoder);
            answer.set("value", shown(value));
            answer.put("left", decoder.inputStream().readAllBytes().length);
            answer.put("written", HexFormat.of().formatHex(written(reader, value)));
        } catch (Throwable error) {
            answer.removeAll();
            answer.put("error", error.getClass().getSimpleName() + ": " + error.getMessage());
        }
        return answer;
    }

    private static ObjectNode classes(Schema writer, Schema reader, byte[] payload) {
        ObjectNode answer = JSON.createObjectNode();
        try {
            ReflectData data = new ReflectData(AvroRows.class.getClassLoader());
            AvroSchema.addLogicalTypeConversions(data, true);
            BinaryDecoder decoder = DecoderFactory.get().binaryDecoder(payload, null);
            new ReflectDatumReader<>(writer, reader, data).read(null, decoder);
            answer.put("left", decoder.inputStream().readAllBytes().length);
        } catch (Throwable error) {
            answer.put("error", error.getClass().getSimpleName() + ": " + error.getMessage());
        }
        return answer;
    }

    private static byte[] written(Schema schema, Object value) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        EncoderFactory blocks = new EncoderFactory().configureBlockSize(64);
        BinaryEncoder encoder = blocks.blockingBinaryEncoder(out, null);
        new GenericDatumWriter<>(schema).write(value, encoder);
        encoder.flush();
        return out.toByteArray();
    }

    private static JsonNode shown(Object value) {
        if (value instanceof IndexedRecord record) {
            ObjectNode found = JSON.createObjectNode();
            for (Schema.Field field : record.getSchema().getFields()) {
                found.set(field.name(), shown(record.get(field.pos())));
            }
            return found;
        }
        if (value instanceof Map<?, ?> map) {
            TreeMap<String, Object> sorted = new TreeMap<>();
            map.forEach((name, inner) -> sorted.put(name.toString(), inner));
            ObjectNode found = JSON.createObjectNode();
            sorted.forEach((name, inner) -> found.set(name, shown(inner)));
            return found;
        }
        if (value instanceof Iterable<?> items) {
            ArrayNode found = JSON.createArrayNode();
            items.forEach(item -> found.add(shown(item)));
            return found;
        }
        return scalar(value);
    }

    private static JsonNode scalar(Object value) {
        if (value instanceof ByteBuffer buffer) {
            byte[] bytes = new byte[buffer.remaining()];
            buffer.duplicate().get(bytes);
            return JSON.valueToTree(new String(bytes, StandardCharsets.ISO_8859_1));
        }
        if (value instanceof GenericFixed fixed) {
            return JSON.valueToTree(new String(fixed.bytes(), StandardCharsets.ISO_8859_1));
        }
        if (value instanceof Float || value instanceof Double) {
            double number = ((Number) value).doubleValue();
            return JSON.valueToTree("0x" + Long.toHexString(Double.doubleToLongBits(number)));
        }
        if (value instanceof CharSequence || value instanceof GenericEnumSymbol<?>) {
            return JSON.valueToTree(value.toString());
        }
        return JSON.valueToTree(value);
    }
}

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.GeneratedMessageV3;
import com.google.protobuf.Message;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.apache.pulsar.client.api.Schema;
import shapes.Brought;
import shapes.Checked;
import shapes.Three;
import shapes.Two;

/**
 * Messages of the classes that protoc makes, read by Pulsar's PROTOBUF_NATIVE schema.
 *
 * <p>`schema` prints for each class a line of JSON: its name and its definition. `read` takes lines
 * of a name and a payload in base64, and prints for each a line of JSON, null where it cannot be
 * read. A value has the fields that are set: numbers as text, those with a point as the bits of their
 * double in hexadecimal, bytes in base64, maps by the text of their keys.
 */
public final class ProtobufScenario {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, Schema<? extends GeneratedMessageV3>> SCHEMAS = Map.of(
        "Brought", Schema.PROTOBUF_NATIVE(Brought.class),
        "Two", Schema.PROTOBUF_NATIVE(Two.class),
        "Three", Schema.PROTOBUF_NATIVE(Three.class),
        "Checked", Schema.PROTOBUF_NATIVE(Checked.class));

    public static void main(String[] args) throws Exception {
        if (args[0].equals("read")) {
            read();
            return;
        }
        SCHEMAS.forEach((name, schema) -> {
            ObjectNode line = JSON.createObjectNode().put("name", name);
            System.out.println("> " + line.put("schema", schema.getSchemaInfo().getSchemaDefinition()));
        });
    }

    private static void read() throws Exception {
        BufferedReader in = new BufferedReader(
            new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        StringBuilder said = new StringBuilder();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ", -1);
            byte[] payload = Base64.getDecoder().decode(words[1]);
            JsonNode value = value(words[0], payload);
            said.append("> ").append(JSON.writeValueAsString(value)).append('\n');
        }
        System.out.write(said.toString().getBytes(StandardCharsets.UTF_8));
        System.out.flush();
    }

    private static JsonNode value(String name, byte[] payload) {
        try {
            return shown(SCHEMAS.get(name).decode(payload));
        } catch (RuntimeException refused) {
            return null;
        }
    }

    private static ObjectNode shown(Message message) {
        ObjectNode found = JSON.createObjectNode();
        message.getAllFields().forEach((field, value) -> {
            if (field.isMapField()) {
                found.set(field.getName(), map((List<?>) value));
            } else if (field.isRepeated()) {
                ArrayNode items = found.putArray(field.getName());
                ((List<?>) value).forEach(item -> items.add(scalar(item)));
            } else {
                found.set(field.getName(), scalar(value));
            }
        });
        return found;
    }

    private static ObjectNode map(List<?> entries) {
        ObjectNode found = JSON.createObjectNode();
        for (Object each : entries) {
            Message entry = (Message) each;
            List<FieldDescriptor> parts = entry.getDescriptorForType().getFields();
            String key = entry.getField(parts.get(0)).toString();
            found.set(key, scalar(entry.getField(parts.get(1))));
        }
        return found;
    }

    private static JsonNode scalar(Object value) {
        if (value instanceof Message message) {
            return shown(message);
        }
        if (value instanceof ByteString bytes) {
            return JSON.valueToTree(Base64.getEncoder().encodeToString(bytes.toByteArray()));
        }
        if (value instanceof Float || value instanceof Double) {
            double number = ((Number) value).doubleValue();
            return JSON.valueToTree("0x" + Long.toHexString(Double.doubleToLongBits(number)));
        }
        if (value instanceof EnumValueDescriptor symbol) {
            boolean known = symbol.getIndex() >= 0;
            return JSON.valueToTree(known ? symbol.getName() : "" + symbol.getNumber());
        }
        return JSON.valueToTree(value.toString());
    }
}

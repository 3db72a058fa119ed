import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.avro.reflect.AvroSchema;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.client.api.schema.SchemaReader;
import org.apache.pulsar.client.impl.schema.generic.GenericAvroReader;
import org.apache.pulsar.client.impl.schema.reader.AvroReader;
import org.apache.pulsar.common.schema.SchemaInfo;

/**
 * How Pulsar's Java client reads values of logical types that another schema wrote as plain ones.
 *
 * <p>`write` prints a line of JSON for the schema `plain` and for `typed`, which reads its messages.
 * `read` takes lines of a reader and a payload of `plain`, and prints "ok" or "no": `typed` is a
 * consumer with Schema.AVRO(Typed), `generic` one with GENERIC_AVRO.
 */
public final class LogicalTypesScenario {

    public static class Plain {
        public String id;
        public Integer time;
        public byte[] price;
        public String whole;
        public String link;
        public Integer small;
        public Long at;
        public Integer day;
    }

    public static class Typed {
        public UUID id;
        public LocalTime time;

        @AvroSchema("{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":9,\"scale\":2}")
        public BigDecimal price;

        public BigInteger whole;
        public URI link;
        public Short small;
        public Instant at;
        public LocalDate day;
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("write")) {
            print("plain", Schema.AVRO(Plain.class).getSchemaInfo());
            print("typed", Schema.AVRO(Typed.class).getSchemaInfo());
            return;
        }
        org.apache.avro.Schema reader = parsed(Schema.AVRO(Typed.class).getSchemaInfo());
        org.apache.avro.Schema writer = parsed(Schema.AVRO(Plain.class).getSchemaInfo());
        ClassLoader loader = LogicalTypesScenario.class.getClassLoader();
        Map<String, SchemaReader<?>> readers = Map.of(
            "typed", new AvroReader<Typed>(writer, reader, loader, false),
            "generic", new GenericAvroReader(writer, reader, new byte[8]));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] row = line.split(" ", 2);
            System.out.println("> " + reads(readers.get(row[0]), Base64.getDecoder().decode(row[1])));
        }
    }

    private static String reads(SchemaReader<?> reader, byte[] payload) {
        try {
            reader.read(payload, 0, payload.length);
            return "ok";
        } catch (RuntimeException error) {
            return "no";
        }
    }

    private static void print(String name, SchemaInfo info) throws Exception {
        System.out.println("> " + new ObjectMapper().writeValueAsString(Map.of(
            "name", name,
            "type", info.getType().name(),
            "schema", info.getSchemaDefinition(),
            "properties", info.getProperties(),
            "payloads", List.of())));
    }

    private static org.apache.avro.Schema parsed(SchemaInfo info) {
        return new org.apache.avro.Schema.Parser().parse(info.getSchemaDefinition());
    }
}

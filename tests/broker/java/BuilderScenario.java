import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.client.api.schema.FieldSchemaBuilder;
import org.apache.pulsar.client.api.schema.RecordSchemaBuilder;
import org.apache.pulsar.client.api.schema.SchemaBuilder;
import org.apache.pulsar.common.schema.SchemaInfo;
import org.apache.pulsar.common.schema.SchemaType;

/** Records that Pulsar's builder makes of lines of JSON; prints each definition in base64. */
public final class BuilderScenario {
    private BuilderScenario() {}

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(
            new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode one = new ObjectMapper().readTree(line);
            byte[] schema = build(one, one.get("type").asText()).getSchema();
            System.out.println("> " + Base64.getEncoder().encodeToString(schema));
        }
    }

    private static SchemaInfo build(JsonNode record, String type) {
        RecordSchemaBuilder builder = SchemaBuilder.record(record.get("name").asText());
        if (record.has("doc")) {
            builder.doc(record.get("doc").asText());
        }
        record.get("fields").forEach(each -> add(builder, each, type));
        return builder.build(SchemaType.valueOf(type));
    }

    private static void add(RecordSchemaBuilder builder, JsonNode each, String type) {
        String name = each.get("name").asText();
        FieldSchemaBuilder<?> field = each.has("record")
            ? builder.field(name, Schema.generic(build(each.get("record"), type)))
            : builder.field(name);
        SchemaType kind = SchemaType.valueOf(each.has("record") ? type : each.get("type").asText());
        field.type(kind);
        if (each.has("optional")) {
            field.optional();
        }
        if (each.has("doc")) {
            field.doc(each.get("doc").asText());
        }
        if (each.has("default")) {
            field.defaultValue(value(kind, each.get("default")));
        }
        if (each.has("properties")) {
            each.get("properties").fields()
                .forEachRemaining(one -> field.property(one.getKey(), one.getValue().asText()));
        }
    }

    private static Object value(SchemaType kind, JsonNode value) {
        return switch (kind) {
            case STRING -> value.asText();
            case BOOLEAN -> value.asBoolean();
            case INT32 -> value.asInt();
            case INT64 -> value.asLong();
            case FLOAT -> (float) value.asDouble();
            default -> value.asDouble();
        };
    }
}

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.client.api.schema.SchemaDefinition;

/**
 * Schemas of POJOs, as Pulsar's client makes them and as the program that `schemas extract` starts.
 *
 * <p>Each line is a class, a type, alwaysAllowNull and jsr310ConversionEnabled. Both definitions are
 * printed in base64, and the client's own short form, Schema.AVRO(Pojo.class) or Schema.JSON(…).
 */
public final class ExtractionScenario {
    private ExtractionScenario() {}

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(
            new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            Class<?> pojo = Class.forName(words[0]);
            String extracted = PulsarGitopsExtract.answer(words).split("[ \n]")[2];
            System.out.println("> " + base64(own(pojo, words)) + " " + extracted
                + " " + base64(brief(pojo, words[1])));
        }
    }

    private static <T> Schema<T> own(Class<T> pojo, String[] words) {
        SchemaDefinition<T> definition = SchemaDefinition.<T>builder()
            .withPojo(pojo)
            .withAlwaysAllowNull(Boolean.parseBoolean(words[2]))
            .withJSR310ConversionEnabled(Boolean.parseBoolean(words[3]))
            .build();
        return words[1].equals("AVRO") ? Schema.AVRO(definition) : Schema.JSON(definition);
    }

    private static <T> Schema<T> brief(Class<T> pojo, String type) {
        return type.equals("AVRO") ? Schema.AVRO(pojo) : Schema.JSON(pojo);
    }

    private static String base64(Schema<?> schema) {
        return Base64.getEncoder().encodeToString(schema.getSchemaInfo().getSchema());
    }
}

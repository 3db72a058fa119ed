import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.TreeMap;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.client.api.schema.SchemaDefinition;
import org.apache.pulsar.common.schema.SchemaInfo;

/**
 * Prints the schema that a program's own Pulsar client makes of one of its classes.
 *
 * <p>Arguments: the class, the type (AVRO, JSON or PROTOBUF_NATIVE), alwaysAllowNull,
 * jsr310ConversionEnabled. Each line of the answer is `> `, a word, and values in base64:
 * `schema DEFINITION`, `property KEY VALUE`, or one of `missing NAME`, `linkage MESSAGE` and
 * `failure MESSAGE`. What the class itself prints goes to stderr.
 */
public final class PulsarGitopsExtract {
    private PulsarGitopsExtract() {}

    public static void main(String[] args) {
        PrintStream answer = System.out;
        System.setOut(System.err);
        byte[] bytes = answer(args).getBytes(StandardCharsets.US_ASCII);
        answer.write(bytes, 0, bytes.length);
        answer.flush();
        System.exit(0); // a class may have started threads
    }

    static String answer(String... args) {
        StringBuilder lines = new StringBuilder();
        try {
            SchemaInfo info = schema(load(args[0]), args).getSchemaInfo();
            lines.append(line("schema", new String(info.getSchema(), StandardCharsets.UTF_8)));
            Map<String, String> properties = new TreeMap<>(info.getProperties());
            properties.forEach((key, value) -> lines.append(line("property", key, value)));
        } catch (ClassNotFoundException missing) {
            lines.append(line("missing", args[0]));
        } catch (ReflectiveOperationException | RuntimeException | LinkageError failure) {
            Throwable cause = failure;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            boolean isAbsent = cause instanceof ClassNotFoundException
                || cause instanceof NoClassDefFoundError;
            lines.append(line(isAbsent ? "linkage" : "failure", cause.toString()));
        }
        return lines.toString();
    }

    /** A nested class is Outer$Inner to Java, and Outer.Inner to everybody else. */
    private static Class<?> load(String name) throws ClassNotFoundException {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException missing) {
            int dot = name.lastIndexOf('.');
            if (dot < 0) {
                throw missing;
            }
            return load(name.substring(0, dot) + "$" + name.substring(dot + 1));
        }
    }

    private static Schema<?> schema(Class<?> pojo, String[] args)
            throws ReflectiveOperationException {
        if (args[1].equals("PROTOBUF_NATIVE")) {
            // Its signature names protobuf-java, which programs with AVRO and JSON do without.
            return (Schema<?>) Schema.class.getMethod(args[1], Class.class).invoke(null, pojo);
        }
        SchemaDefinition<?> definition = definition(pojo, args);
        return args[1].equals("JSON") ? Schema.JSON(definition) : Schema.AVRO(definition);
    }

    private static <T> SchemaDefinition<T> definition(Class<T> pojo, String[] args) {
        return SchemaDefinition.<T>builder()
            .withPojo(pojo)
            .withAlwaysAllowNull(Boolean.parseBoolean(args[2]))
            .withJSR310ConversionEnabled(Boolean.parseBoolean(args[3]))
            .build();
    }

    private static String line(String word, String... values) {
        StringBuilder line = new StringBuilder("> ").append(word);
        for (String value : values) {
            byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
            line.append(' ').append(Base64.getEncoder().encodeToString(bytes));
        }
        return line.append('\n').toString();
    }
}

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;
import org.apache.avro.SchemaCompatibility.SchemaCompatibilityType;
import org.apache.avro.SchemaValidationException;
import org.apache.avro.SchemaValidator;
import org.apache.avro.SchemaValidatorBuilder;

/**
 * Avro for Java over pairs of definitions: a line for the writer, a line for the reader.
 *
 * <p>For every line on standard input one round over all pairs, and a line of four numbers: the
 * seconds that parsing took, SchemaCompatibility, SchemaValidator (what a Pulsar broker uses), and
 * how many pairs SchemaValidator takes.
 */
public final class SchemaPairs {
  private static final SchemaValidator VALIDATOR =
      new SchemaValidatorBuilder().canReadStrategy().validateLatest();

  public static void main(String[] args) throws IOException {
    List<String> texts = Files.readAllLines(Path.of(args[0]));
    BufferedReader rounds =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    while (rounds.readLine() != null) {
      System.out.println(round(texts));
    }
  }

  private static String round(List<String> texts) {
    Schema[] schemas = new Schema[texts.size()];
    long start = System.nanoTime();
    for (int i = 0; i < schemas.length; i++) {
      schemas[i] = new Schema.Parser().setValidateDefaults(false).parse(texts.get(i));
    }
    long parsed = System.nanoTime();
    int fits = 0;
    for (int i = 0; i < schemas.length; i += 2) {
      SchemaCompatibilityType answer =
          SchemaCompatibility.checkReaderWriterCompatibility(schemas[i + 1], schemas[i]).getType();
      fits += answer == SchemaCompatibilityType.COMPATIBLE ? 1 : 0;
    }
    long checked = System.nanoTime();
    int valid = 0;
    for (int i = 0; i < schemas.length; i += 2) {
      valid += canRead(schemas[i], schemas[i + 1]) ? 1 : 0;
    }
    long validated = System.nanoTime();
    if (fits > schemas.length) {
      throw new AssertionError("the answers must be used, or Java might not work them out");
    }
    return (parsed - start) / 1e9
        + " " + (checked - parsed) / 1e9
        + " " + (validated - checked) / 1e9
        + " " + valid;
  }

  private static boolean canRead(Schema writer, Schema reader) {
    try {
      VALIDATOR.validate(reader, List.of(writer));
      return true;
    } catch (SchemaValidationException refused) {
      return false;
    }
  }
}

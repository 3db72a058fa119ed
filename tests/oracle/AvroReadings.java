import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.util.Base64;
import org.apache.avro.Conversions;
import org.apache.avro.Schema;
import org.apache.avro.data.TimeConversions;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;

/**
 * What Avro's reader makes of a message of another definition.
 *
 * <p>Takes lines of a writer and a reader, both in base64, and a message of the writer in Avro's
 * JSON form, in base64 too. Prints for each line the message as the writer reads it, a tab, and as
 * the reader does, or the exception. Values of logical types are Java's, such as Instant.
 */
public final class AvroReadings {
    private static final GenericData DATA = new GenericData();

    public static void main(String[] args) throws Exception {
        DATA.addLogicalTypeConversion(new Conversions.DecimalConversion());
        DATA.addLogicalTypeConversion(new TimeConversions.DateConversion());
        DATA.addLogicalTypeConversion(new TimeConversions.TimeMillisConversion());
        DATA.addLogicalTypeConversion(new TimeConversions.TimeMicrosConversion());
        DATA.addLogicalTypeConversion(new TimeConversions.TimestampMillisConversion());
        DATA.addLogicalTypeConversion(new TimeConversions.TimestampMicrosConversion());
        DATA.addLogicalTypeConversion(new TimeConversions.LocalTimestampMillisConversion());
        DATA.addLogicalTypeConversion(new TimeConversions.LocalTimestampMicrosConversion());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ", -1);
            Schema writer = new Schema.Parser().parse(text(words[0]));
            Schema reader = new Schema.Parser().parse(text(words[1]));
            byte[] message = written(writer, text(words[2]));
            System.out.println("> " + read(writer, writer, message) + "\t" + read(writer, reader, message));
        }
    }

    private static String text(String word) {
        return new String(Base64.getDecoder().decode(word));
    }

    private static byte[] written(Schema writer, String json) throws Exception {
        GenericRecord record = new GenericDatumReader<GenericRecord>(writer)
            .read(null, DecoderFactory.get().jsonDecoder(writer, json));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(out, null);
        new GenericDatumWriter<GenericRecord>(writer).write(record, encoder);
        encoder.flush();
        return out.toByteArray();
    }

    private static String read(Schema writer, Schema reader, byte[] message) {
        try {
            GenericRecord record = new GenericDatumReader<GenericRecord>(writer, reader, DATA)
                .read(null, DecoderFactory.get().binaryDecoder(message, null));
            StringBuilder values = new StringBuilder();
            for (Schema.Field field : reader.getFields()) {
                values.append(field.name()).append('=').append(record.get(field.pos())).append(' ');
            }
            return values.toString().trim();
        } catch (Exception error) {
            return error.getClass().getSimpleName();
        }
    }
}

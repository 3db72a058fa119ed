import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.client.api.Message;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.Reader;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.client.api.schema.Field;
import org.apache.pulsar.client.api.schema.GenericObject;
import org.apache.pulsar.client.api.schema.GenericRecord;
import org.apache.pulsar.common.schema.KeyValue;

/**
 * Pulsar's own client reads a topic with AUTO_CONSUME and prints every message, marked by ">".
 *
 * <p>Arguments: the service URL, the topic, and how many messages it has.
 */
public final class MessageScenario {

    public static void main(String[] args) throws Exception {
        try (PulsarClient client = PulsarClient.builder().serviceUrl(args[0])
                .operationTimeout(30, TimeUnit.SECONDS).build();
                Reader<GenericRecord> reader = client.newReader(Schema.AUTO_CONSUME())
                        .topic(args[1])
                        .startMessageId(org.apache.pulsar.client.api.MessageId.earliest)
                        .create()) {
            for (int left = Integer.parseInt(args[2]); left > 0; left--) {
                System.out.println("> " + line(reader.readNext(30, TimeUnit.SECONDS)));
            }
        }
    }

    private static String line(Message<GenericRecord> message) {
        byte[] version = message.getSchemaVersion();
        GenericRecord value = message.getValue();
        return String.join("|",
                version == null ? "-" : String.valueOf(java.nio.ByteBuffer.wrap(version).getLong()),
                value == null ? "-" : value.getSchemaType().name(),
                message.hasKey() ? message.getKey() : "-",
                String.valueOf(message.getSequenceId()),
                message.getProperties().toString(),
                String.valueOf(message.getEventTime()),
                value == null ? "null" : text(value.getNativeObject()));
    }

    private static String text(Object value) {
        if (value instanceof KeyValue<?, ?> pair) {
            return text(pair.getKey()) + "=" + text(pair.getValue());
        }
        if (value instanceof GenericRecord record) {
            StringBuilder text = new StringBuilder();
            for (Field field : record.getFields()) {
                text.append(field.getName()).append(':').append(text(record.getField(field)))
                        .append(' ');
            }
            return text.toString().trim();
        }
        if (value instanceof com.google.protobuf.DynamicMessage message) {
            StringBuilder text = new StringBuilder();
            message.getDescriptorForType().getFields().forEach(field -> text.append(field.getName())
                    .append(':').append(message.getField(field)).append(' '));
            return text.toString().trim();
        }
        if (value instanceof org.apache.avro.generic.GenericRecord record) {
            StringBuilder text = new StringBuilder();
            record.getSchema().getFields().forEach(field -> text.append(field.name()).append(':')
                    .append(record.get(field.pos())).append(' '));
            return text.toString().trim();
        }
        if (value instanceof byte[] bytes) {
            return Base64.getEncoder().encodeToString(bytes);
        }
        if (value instanceof GenericObject object) {
            return text(object.getNativeObject());
        }
        return new String(String.valueOf(value).getBytes(StandardCharsets.UTF_8),
                StandardCharsets.UTF_8);
    }
}

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.avro.generic.GenericData;
import org.apache.pulsar.client.api.MessageId;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.client.api.schema.GenericRecord;
import org.apache.pulsar.client.api.schema.GenericSchema;
import org.apache.pulsar.client.impl.schema.generic.GenericAvroSchema;
import org.apache.pulsar.common.schema.SchemaInfo;
import org.apache.pulsar.common.schema.SchemaType;

/**
 * How many messages a second Pulsar's own client sends, each with the schema after the one before.
 *
 * <p>Arguments: the service URL, the topic, how many messages, and files of Avro definitions. It
 * sends all of them twice and prints the second rate, marked by ">".
 */
public final class MessageRates {

    public static void main(String[] args) throws Exception {
        List<GenericSchema<GenericRecord>> schemas = new ArrayList<>();
        for (int index = 3; index < args.length; index++) {
            schemas.add(GenericAvroSchema.of(SchemaInfo.builder()
                    .name("").type(SchemaType.AVRO)
                    .schema(Files.readAllBytes(Path.of(args[index]))).build()));
        }
        int count = Integer.parseInt(args[2]);
        try (PulsarClient client = PulsarClient.builder().serviceUrl(args[0]).build();
                Producer<GenericRecord> producer = client.newProducer(schemas.get(0))
                        .topic(args[1])
                        .blockIfQueueFull(true)
                        .maxPendingMessages(10_000)
                        .batchingMaxPublishDelay(1, TimeUnit.MILLISECONDS)
                        .create()) {
            send(producer, schemas, count);
            System.out.println("> " + send(producer, schemas, count));
        }
    }

    private static double send(Producer<GenericRecord> producer,
            List<GenericSchema<GenericRecord>> schemas, int count) throws Exception {
        List<GenericRecord> values = new ArrayList<>();
        for (GenericSchema<GenericRecord> schema : schemas) {
            values.add(schema.newRecordBuilder().set("id", "order-12345").set("amount", 12.5)
                    .set("count", 3).build());
        }
        long start = System.nanoTime();
        CompletableFuture<MessageId> last = null;
        for (int number = 0; number < count; number++) {
            int index = number % schemas.size();
            last = producer.newMessage(schemas.get(index)).value(values.get(index)).sendAsync();
        }
        producer.flush();
        last.get();
        return count / ((System.nanoTime() - start) / 1e9);
    }
}

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.Schema;

/**
 * Pulsar's own client on topics of one namespace: prints how each connection ends, marked by ">".
 *
 * <p>Arguments: the service URL, the namespace, two Avro definitions, and one that the first
 * cannot be followed by.
 */
public final class ClientScenario {

    private final PulsarClient client;
    private final String namespace;
    private final Map<String, String> ends = new TreeMap<>();

    private ClientScenario(PulsarClient client, String namespace) {
        this.client = client;
        this.namespace = namespace;
    }

    private interface Step {
        AutoCloseable run() throws Exception;
    }

    public static void main(String[] args) throws Exception {
        try (PulsarClient client = PulsarClient.builder().serviceUrl(args[0])
                .operationTimeout(10, TimeUnit.SECONDS).build()) {
            ClientScenario scenario = new ClientScenario(client, args[1]);
            scenario.run(args[2], args[3], args[4]);
            scenario.ends.forEach((name, end) -> System.out.println("> " + name + ": " + end));
        }
    }

    private void run(String first, String second, String breaking) {
        for (String topic : new String[] {
                "nothing", "avro", "string-null", "bytes", "json-text", "avro-array", "kv-records",
                "kv-separated", "kv-plain", "kv-avro-text-key", "kv-json-array", "kv-protobuf"}) {
            end("auto-produce on " + topic, () -> producer(Schema.AUTO_PRODUCE_BYTES(), topic));
            end("bytes on " + topic, () -> producer(Schema.BYTES, topic));
            end("auto-consume on " + topic, () -> consumer(Schema.AUTO_CONSUME(), topic));
            end("bytes from " + topic, () -> consumer(Schema.BYTES, topic));
        }
        end("auto-produce sends a value to kv-separated", () -> {
            Producer<byte[]> producer = producer(Schema.AUTO_PRODUCE_BYTES(), "kv-separated");
            producer.send(new byte[] {'{', '}'});
            return producer;
        });
        end("int32 on int32", () -> producer(Schema.INT32, "int32"));
        end("int32 on avro", () -> producer(Schema.INT32, "avro"));
        end("avro on avro", () -> producer(avro(first), "avro"));
        end("further on several", () -> {
            Producer<byte[]> producer = producer(avro(first), "several");
            end("second message", () -> send(producer, second));
            end("breaking message", () -> send(producer, breaking));
            end("second message again", () -> send(producer, second));
            return producer;
        });
        end("auto-consume as a producer", () -> producer(Schema.AUTO_CONSUME(), "nothing"));
    }

    private static Schema<byte[]> avro(String definition) {
        return Schema.NATIVE_AVRO(new org.apache.avro.Schema.Parser().parse(definition));
    }

    private <T> Producer<T> producer(Schema<T> schema, String topic) throws Exception {
        return client.newProducer(schema).topic(namespace + "/" + topic).create();
    }

    private AutoCloseable consumer(Schema<?> schema, String topic) throws Exception {
        return client.newConsumer(schema).topic(namespace + "/" + topic)
            .subscriptionName("java").subscribe();
    }

    private static AutoCloseable send(Producer<byte[]> producer, String definition)
            throws Exception {
        producer.newMessage(avro(definition)).value(new byte[] {2}).send();
        return () -> { };
    }

    private void end(String name, Step step) {
        try {
            step.run().close();
            ends.put(name, "let in");
        } catch (Exception failure) {
            ends.put(name, failure.getClass().getSimpleName());
        }
    }
}

import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.pulsar.client.api.BatcherBuilder;
import org.apache.pulsar.client.api.CompressionType;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.ProducerBuilder;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.common.schema.KeyValue;
import org.apache.pulsar.common.schema.KeyValueEncodingType;

/**
 * Messages of Pulsar's Java client that no other client can send: `SERVICE_URL NAMESPACE`, or
 * `SERVICE_URL NAMESPACE PUBLIC_KEY` for the topic `secret` alone (encrypted, in pieces).
 *
 * <p>Topics: `inline`, `separated` (with a null key and a null value), `odd` (keys and ordering
 * keys of any bytes, a tombstone, sequence ids with gaps), `keyed` (a batch for each key), `chunked` (a message in ten pieces).
 */
public final class CaptureScenario {

    public static class Key {
        public int id;
    }

    public static class Value {
        public String email;
    }

    public static void main(String[] args) throws Exception {
        try (PulsarClient client = PulsarClient.builder().serviceUrl(args[0]).build()) {
            if (args.length > 2) {
                send(inPieces(client, args[1] + "/secret")
                    .addEncryptionKey("team-key").defaultCryptoKeyReader("file://" + args[2]));
                System.out.println("> done");
                return;
            }
            pairs(client, args[1] + "/inline", KeyValueEncodingType.INLINE);
            pairs(client, args[1] + "/separated", KeyValueEncodingType.SEPARATED);
            odd(client, args[1] + "/odd");
            keyed(client, args[1] + "/keyed");
            send(inPieces(client, args[1] + "/chunked"));
        }
        System.out.println("> done");
    }

    private static void pairs(PulsarClient client, String topic, KeyValueEncodingType encoding)
            throws Exception {
        Schema<KeyValue<Key, Value>> schema =
            Schema.KeyValue(Schema.AVRO(Key.class), Schema.AVRO(Value.class), encoding);
        try (Producer<KeyValue<Key, Value>> producer =
                client.newProducer(schema).topic(topic).compressionType(CompressionType.ZSTD).create()) {
            for (int number = 0; number < 3; number++) {
                Key key = new Key();
                key.id = 200 + number;
                Value value = new Value();
                value.email = "a" + number + "@acme.example";
                producer.send(new KeyValue<>(key, value));
            }
            producer.send(new KeyValue<>(new Key(), null));
        }
    }

    private static void odd(PulsarClient client, String topic) throws Exception {
        try (Producer<byte[]> producer =
                client.newProducer(Schema.BYTES).topic(topic).enableBatching(false).create()) {
            producer.newMessage().keyBytes(new byte[] {(byte) 0xff, 0}).value(new byte[] {1}).sequenceId(7).send();
            producer.newMessage().orderingKey(new byte[] {(byte) 0xff, 0}).value(new byte[] {2}).sequenceId(9).send();
            producer.newMessage().key("gone").value(null).sequenceId(20).send();
            producer.newMessage().key("empty").value(new byte[0]).sequenceId(21)
                .eventTime(1234).properties(Map.of("\u00fc", "\u0000\ud83d\ude00")).send();
        }
    }

    private static ProducerBuilder<byte[]> inPieces(PulsarClient client, String topic) {
        return client.newProducer(Schema.BYTES).topic(topic)
            .enableBatching(false).enableChunking(true).chunkMaxMessageSize(10_000);
    }

    private static void send(ProducerBuilder<byte[]> builder) throws Exception {
        try (Producer<byte[]> producer = builder.create()) {
            byte[] large = new byte[100_000];
            for (int at = 0; at < large.length; at++) {
                large[at] = (byte) at;
            }
            producer.send(new byte[] {1});
            producer.send(large);
            producer.send(new byte[] {2});
        }
    }

    private static void keyed(PulsarClient client, String topic) throws Exception {
        try (Producer<byte[]> producer = client.newProducer(Schema.BYTES).topic(topic)
                .batcherBuilder(BatcherBuilder.KEY_BASED).batchingMaxMessages(100).create()) {
            for (int number = 0; number < 40; number++) {
                producer.newMessage().key("k" + number % 3)
                    .value(("v" + number).getBytes(StandardCharsets.UTF_8)).sequenceId(number).sendAsync();
            }
            producer.flush();
        }
    }
}

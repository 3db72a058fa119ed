import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.common.schema.SchemaInfo;
import org.apache.pulsar.common.schema.SchemaType;

/**
 * Pulsar's own client as producer and consumer with any bytes as a schema: prints how each
 * connection ends, marked by ">".
 *
 * <p>Arguments: the service URL, and after how many seconds the client gives up. Each line asks for
 * one connection: topic, "produce" or "consume", type, definition in base64, properties. Those of
 * one topic are made one after another, topics beside each other.
 */
public final class UpgradeScenario {

    private static final String PROPERTY = "=";
    private static final int THREADS = 48;

    private UpgradeScenario() { }

    public static void main(String[] args) throws Exception {
        List<String[]> asked = new ArrayList<>();
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            asked.add(line.split("\t", -1));
        }
        String[] ends = new String[asked.size()];
        Map<String, List<Integer>> topics = new LinkedHashMap<>();
        for (int i = 0; i < ends.length; i++) {
            topics.computeIfAbsent(asked.get(i)[0], topic -> new ArrayList<>()).add(i);
        }
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try (PulsarClient client = PulsarClient.builder().serviceUrl(args[0])
                .operationTimeout(Integer.parseInt(args[1]), TimeUnit.SECONDS).build()) {
            for (List<Integer> ofTopic : topics.values()) {
                threads.execute(() -> ofTopic.forEach(i -> ends[i] = end(client, asked.get(i))));
            }
            threads.shutdown();
            threads.awaitTermination(1, TimeUnit.HOURS);
        }
        for (String end : ends) {
            System.out.println("> " + end);
        }
    }

    private static String end(PulsarClient client, String[] line) {
        Schema<byte[]> schema = schema(line);
        try (Closeable opened = line[1].equals("produce")
                ? client.newProducer(schema).topic(line[0]).create()
                : client.newConsumer(schema).topic(line[0]).subscriptionName("java").subscribe()) {
            return "let in";
        } catch (IOException failure) {
            return failure.getClass().getSimpleName();
        }
    }

    private static Schema<byte[]> schema(String[] line) {
        Map<String, String> properties = new LinkedHashMap<>();
        for (int i = 4; i < line.length; i++) {
            String[] pair = line[i].split(PROPERTY, 2);
            properties.put(pair[0], pair[1]);
        }
        return new RawSchema(SchemaInfo.builder().name("s").type(SchemaType.valueOf(line[2]))
            .schema(Base64.getDecoder().decode(line[3])).properties(properties).build());
    }

    /** Bytes as messages, and whatever it is told as the schema that the client sends. */
    private record RawSchema(SchemaInfo info) implements Schema<byte[]> {
        @Override
        public byte[] encode(byte[] message) {
            return message;
        }

        @Override
        public byte[] decode(byte[] bytes) {
            return bytes;
        }

        @Override
        public SchemaInfo getSchemaInfo() {
            return info;
        }

        @Override
        public Schema<byte[]> clone() {
            return this;
        }
    }
}

import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.protobuf.DescriptorProtos.EnumDescriptorProto;
import com.google.protobuf.DescriptorProtos.EnumValueDescriptorProto;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.Base64;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.client.impl.schema.KeyValueSchemaImpl;
import org.apache.pulsar.client.impl.schema.ProtobufSchema;
import org.apache.pulsar.common.schema.KeyValue;
import org.apache.pulsar.common.schema.KeyValueEncodingType;
import org.apache.pulsar.common.schema.SchemaInfo;

/**
 * What Pulsar's Java client writes and reads, without a broker.
 *
 * <p>`write` prints a line of JSON for each schema: its name, type, definition, properties, and
 * payloads in base64. `read` takes lines of a schema's name and a payload, and prints "ok" or "no".
 */
public final class PayloadScenario {

    public enum Color { RED, GREEN }

    public static class Line {
        public String product = "tea";
        public double price = 2.5;
    }

    public static class Order {
        public int id = 1;
        public long total = 1L << 60;
        public short count = 2;
        public byte small = 3;
        public char letter = 'c';
        public float ratio = 0.1f;
        public double score = Double.NaN;
        public boolean active = true;
        public String note = "\u00fc: \"\ud83d\ude00\"";
        public byte[] data = {1, 2, (byte) 255};
        public BigDecimal amount = new BigDecimal("12.340");
        public BigInteger huge = BigInteger.TEN.pow(30);
        public Color color = Color.GREEN;
        public List<Line> lines = List.of(new Line(), new Line());
        public Map<String, Integer> attrs = Map.of("k", 1);
        public LocalDate day = LocalDate.of(2024, 2, 29);
        public Instant at = Instant.ofEpochMilli(1700000000123L);
        public Order inner;
    }

    public static class Times {
        public LocalTime time = LocalTime.of(1, 2, 3, 4000);
        public LocalDateTime local = LocalDateTime.of(2024, 1, 2, 3, 4, 5);
        public Date date = new Date(5);
        public java.util.UUID uuid = new java.util.UUID(1, 2);
        @org.apache.avro.reflect.AvroSchema(
            "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":9,\"scale\":2}")
        public BigDecimal amount = new BigDecimal("1.23");
    }

    private final Map<String, Schema<?>> schemas = new LinkedHashMap<>();
    private final Map<String, List<?>> values = new LinkedHashMap<>();

    private PayloadScenario() {
        Order nested = new Order();
        nested.inner = new Order();
        nested.note = null;
        add("json", Schema.JSON(Order.class), new Order(), nested);
        add("times", Schema.JSON(Times.class), new Times());
        add("avro", Schema.AVRO(Line.class), new Line());
        EnumDescriptorProto message = EnumDescriptorProto.newBuilder().setName("E")
            .addValue(EnumValueDescriptorProto.newBuilder().setName("V").setNumber(-5))
            .addReservedName("R").build();
        add("native", Schema.PROTOBUF_NATIVE(EnumDescriptorProto.class), message);
        add("protobuf", ProtobufSchema.of(EnumDescriptorProto.class), message);
        add("pair", KeyValueSchemaImpl.of(
            Schema.STRING, Schema.JSON(Line.class), KeyValueEncodingType.INLINE),
            new KeyValue<>("k", new Line()), new KeyValue<>(null, new Line()),
            new KeyValue<>("k", null));
        add("separated", KeyValueSchemaImpl.of(
            Schema.STRING, Schema.JSON(Line.class), KeyValueEncodingType.SEPARATED));
        add("BOOLEAN", Schema.BOOL, true, false);
        add("INT8", Schema.INT8, (byte) -1);
        add("INT16", Schema.INT16, (short) -2);
        add("INT32", Schema.INT32, -3);
        add("INT64", Schema.INT64, -4L);
        add("FLOAT", Schema.FLOAT, 1.5f);
        add("DOUBLE", Schema.DOUBLE, -0.0);
        add("STRING", Schema.STRING, "\u00fc", "");
        add("BYTES", Schema.BYTES, new byte[] {1});
        add("DATE", Schema.DATE, new Date(5));
        add("TIME", Schema.TIME, new java.sql.Time(5));
        add("TIMESTAMP", Schema.TIMESTAMP, new java.sql.Timestamp(5));
        add("INSTANT", Schema.INSTANT, Instant.MIN, Instant.MAX);
        add("LOCAL_DATE", Schema.LOCAL_DATE, LocalDate.MIN, LocalDate.MAX);
        add("LOCAL_TIME", Schema.LOCAL_TIME, LocalTime.MIN, LocalTime.MAX);
        add("LOCAL_DATE_TIME", Schema.LOCAL_DATE_TIME, LocalDateTime.MIN, LocalDateTime.MAX);
    }

    public static void main(String[] args) throws Exception {
        PayloadScenario scenario = new PayloadScenario();
        if (args[0].equals("write")) {
            scenario.write();
        } else {
            scenario.read();
        }
    }

    private void add(String name, Schema<?> schema, Object... written) {
        schemas.put(name, schema);
        values.put(name, List.of(written));
    }

    @SuppressWarnings("unchecked")
    private void write() throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        for (String name : schemas.keySet()) {
            Schema<Object> schema = (Schema<Object>) schemas.get(name);
            SchemaInfo info = schema.getSchemaInfo();
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("name", name);
            line.put("type", info.getType().name());
            line.put("schema", info.getSchemaDefinition());
            line.put("properties", info.getProperties());
            line.put("payloads", values.get(name).stream()
                .map(value -> Base64.getEncoder().encodeToString(schema.encode(value))).toList());
            System.out.println("> " + mapper.writeValueAsString(line));
        }
    }

    private void read() throws Exception {
        BufferedReader in = new BufferedReader(
            new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ", -1);
            byte[] payload = Base64.getDecoder().decode(words[1]);
            try {
                schemas.get(words[0]).decode(payload);
                System.out.println("> ok");
            } catch (RuntimeException refused) {
                System.out.println("> no");
            }
        }
    }
}

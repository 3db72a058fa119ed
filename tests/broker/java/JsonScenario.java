import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Calendar;
import java.util.Collection;
import java.util.Currency;
import java.util.Date;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TimeZone;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.IntNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import org.apache.avro.reflect.AvroSchema;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.common.schema.SchemaInfo;

/**
 * What the JSON schema of Pulsar's Java client writes and reads of a field of each type.
 *
 * <p>Each class has one field and some of its values. `write` prints a line of JSON for each class:
 * its name, definition, properties, and a payload in base64 for each value and one for null. `read`
 * takes lines of a class and a payload, and prints what the client writes of what it read, in
 * base64, nothing if it cannot write that, or "no" if it cannot read.
 */
public final class JsonScenario {

    public enum Color { RED, GREEN }

    public static class Line {
        public String product = "tea";
        public double price = 2.5;
    }

    public record Pair(int a, String b) { }

    // Types without parts

    public static class OfBool { public boolean value; static Object[] all = {true, false}; }
    public static class OfByte {
        public byte value;
        static Object[] all = {Byte.MIN_VALUE, Byte.MAX_VALUE};
    }
    public static class OfShort {
        public short value;
        static Object[] all = {Short.MIN_VALUE, Short.MAX_VALUE};
    }
    public static class OfInt {
        public int value;
        static Object[] all = {Integer.MIN_VALUE, Integer.MAX_VALUE};
    }
    public static class OfLong {
        public long value;
        static Object[] all = {Long.MIN_VALUE, Long.MAX_VALUE};
    }
    public static class OfFloat {
        public float value;
        static Object[] all = {Float.MIN_VALUE, -Float.MAX_VALUE, Float.NaN, 1f};
    }
    public static class OfDouble {
        public double value;
        static Object[] all = {Double.MIN_VALUE, Double.MAX_VALUE, Double.NEGATIVE_INFINITY};
    }
    public static class OfChar {
        public char value;
        static Object[] all = {'\0', '"', '\u20ac', '\uffff'};
    }
    public static class Boolean_ { public Boolean value; static Object[] all = {true}; }
    public static class Byte_ { public Byte value; static Object[] all = {Byte.MIN_VALUE}; }
    public static class Short_ { public Short value; static Object[] all = {Short.MIN_VALUE}; }
    public static class Integer_ {
        public Integer value;
        static Object[] all = {Integer.MIN_VALUE};
    }
    public static class Long_ { public Long value; static Object[] all = {Long.MIN_VALUE}; }
    public static class Float_ {
        public Float value;
        static Object[] all = {Float.POSITIVE_INFINITY};
    }
    public static class Double_ {
        public Double value;
        static Object[] all = {-0.0, 1e22, Double.NaN};
    }
    public static class Character_ { public Character value; static Object[] all = {'\uffff'}; }
    public static class String_ {
        public String value;
        static Object[] all = {"", "\ud83d\ude00\0\"\\"};
    }
    public static class Chars { public CharSequence value; static Object[] all = {"a"}; }
    public static class Enum_ { public Color value; static Object[] all = {Color.GREEN}; }
    public static class Weekday {
        public DayOfWeek value;
        static Object[] all = {DayOfWeek.MONDAY};
    }
    public static class BigDecimal_ {
        public BigDecimal value;
        static Object[] all = {
            new BigDecimal("-12.340"), new BigDecimal("1E+400"), new BigDecimal("1E-2147483647"),
            BigDecimal.TEN.pow(999)
        };
    }
    public static class BigInteger_ {
        public BigInteger value;
        static Object[] all = {BigInteger.ZERO, BigInteger.TEN.pow(999).negate()};
    }
    public static class Decimal {
        @AvroSchema(
            "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":9,\"scale\":2}")
        public BigDecimal value;
        static Object[] all = {new BigDecimal("1.23"), BigDecimal.TEN};
    }
    public static class UUID_ {
        public UUID value;
        static Object[] all = {new UUID(-1, 2), new UUID(0, 0)};
    }
    public static class URI_ {
        public URI value;
        static Object[] all = {
            URI.create("http://u@[::1%25e0]:80/a;b?c#d"), URI.create(""), URI.create("mailto:a@b"),
            URI.create("../\u00fc%20"), URI.create("urn:x:[y]"), URI.create("file:///x"),
            URI.create("a//b"), URI.create("//a_b:x")
        };
    }
    public static class URL_ {
        public URL value;
        static Object[] all = {
            url("https://h:8080/a b?q#f"), url("file:/x"), url("jar:file:/x.jar!/y"),
            url("HTTP://[::1]/"), url("mailto:a@b"), url("http:")
        };
    }
    public static class File_ {
        public File value;
        static Object[] all = {new File("/x y"), new File("")};
    }

    // Times

    public static class Instant_ {
        public Instant value;
        static Object[] all = {
            Instant.MIN, Instant.MAX, Instant.EPOCH, Instant.ofEpochSecond(-1, 1),
            Instant.ofEpochMilli(1700000000123L)
        };
    }
    public static class LocalDate_ {
        public LocalDate value;
        static Object[] all = {
            LocalDate.MIN, LocalDate.MAX, LocalDate.EPOCH, LocalDate.of(2024, 2, 29),
            LocalDate.of(0, 1, 1), LocalDate.of(10000, 1, 1)
        };
    }
    public static class LocalTime_ {
        public LocalTime value;
        static Object[] all = {LocalTime.MIN, LocalTime.MAX, LocalTime.NOON, LocalTime.of(1, 2, 3)};
    }
    public static class LocalDateTime_ {
        public LocalDateTime value;
        static Object[] all = {
            LocalDateTime.MIN, LocalDateTime.MAX, LocalDateTime.of(2024, 2, 29, 1, 2, 3),
            LocalDateTime.of(-1, 1, 1, 0, 0)
        };
    }
    public static class OffsetDateTime_ {
        public OffsetDateTime value;
        static Object[] all = {
            OffsetDateTime.parse("+10000-01-01T00:00:00Z"),
            OffsetDateTime.parse("-0001-01-01T00:00:00+01:00")
        };
    }
    public static class ZonedDateTime_ {
        public ZonedDateTime value;
        static Object[] all = {ZonedDateTime.parse("2024-01-01T00:00:00+01:00[Europe/Berlin]")};
    }
    public static class OffsetTime_ {
        public OffsetTime value;
        static Object[] all = {OffsetTime.MIN, OffsetTime.MAX};
    }
    public static class Year_ {
        public Year value;
        static Object[] all = {Year.of(Year.MIN_VALUE)};
    }
    public static class YearMonth_ {
        public YearMonth value;
        static Object[] all = {YearMonth.of(2024, 2)};
    }
    public static class MonthDay_ {
        public MonthDay value;
        static Object[] all = {MonthDay.of(2, 29)};
    }
    public static class Duration_ {
        public Duration value;
        static Object[] all = {Duration.ofSeconds(-5, 1)};
    }
    public static class Period_ {
        public Period value;
        static Object[] all = {Period.of(1, -2, 3)};
    }
    public static class ZoneId_ {
        public ZoneId value;
        static Object[] all = {ZoneId.of("Europe/Berlin")};
    }
    public static class Date_ {
        public Date value;
        static Object[] all = {new Date(Long.MIN_VALUE), new Date(5)};
    }
    public static class SqlDate {
        public java.sql.Date value;
        static Object[] all = {new java.sql.Date(5)};
    }
    public static class Timestamp_ {
        public java.sql.Timestamp value;
        static Object[] all = {new java.sql.Timestamp(5)};
    }
    public static class Calendar_ { public Calendar value; static Object[] all = {calendar()}; }

    // What the definition knows nothing of

    public static class Optional_ {
        public Optional<String> value;
        static Object[] all = {Optional.of("a")};
    }
    public static class OptionalInt_ {
        public OptionalInt value;
        static Object[] all = {OptionalInt.of(1)};
    }
    public static class Object_ {
        public Object value;
        static Object[] all = {1, "a", List.of(1), Map.of("a", 1)};
    }
    public static class Atomic {
        public AtomicInteger value;
        static Object[] all = {new AtomicInteger(1)};
    }
    public static class Reference {
        public AtomicReference<String> value;
        static Object[] all = {new AtomicReference<>("a")};
    }
    public static class TimeZone_ {
        public TimeZone value;
        static Object[] all = {TimeZone.getTimeZone("UTC")};
    }
    public static class Locale_ { public Locale value; static Object[] all = {Locale.GERMANY}; }
    public static class Currency_ {
        public Currency value;
        static Object[] all = {Currency.getInstance("EUR")};
    }
    public static class Node {
        public JsonNode value;
        static Object[] all = {
            IntNode.valueOf(1), JsonNodeFactory.instance.arrayNode().add(1),
            JsonNodeFactory.instance.objectNode()
        };
    }

    // Bytes, arrays and collections

    public static class Bytes {
        public byte[] value;
        static Object[] all = {new byte[] {}, new byte[] {-1}};
    }
    public static class Buffer {
        public ByteBuffer value;
        static Object[] all = {ByteBuffer.wrap(new byte[] {1, 2})};
    }
    public static class Bytes_ { public Byte[] value; static Object[] all = {new Byte[] {-1, 2}}; }
    public static class BytesOfBytes {
        public byte[][] value;
        static Object[] all = {new byte[][] {{1}, {}}};
    }
    public static class CharArray {
        public char[] value;
        static Object[] all = {new char[] {}, "ab\u20ac".toCharArray()};
    }
    public static class CharArray_ {
        public Character[] value;
        static Object[] all = {new Character[] {'a', '\uffff'}};
    }
    public static class CharArrays {
        public List<char[]> value;
        static Object[] all = {List.of(new char[] {'a', 'b'})};
    }
    public static class CharMatrix {
        public char[][] value;
        static Object[] all = {new char[][] {{'a', 'b'}, {}}};
    }
    public static class Bools {
        public boolean[] value;
        static Object[] all = {new boolean[] {true}};
    }
    public static class Shorts { public short[] value; static Object[] all = {new short[] {-1}}; }
    public static class Ints { public int[] value; static Object[] all = {new int[] {-1}}; }
    public static class Longs { public long[] value; static Object[] all = {new long[] {-1}}; }
    public static class Floats {
        public float[] value;
        static Object[] all = {new float[] {Float.NaN, 1.5f}};
    }
    public static class Doubles {
        public double[] value;
        static Object[] all = {new double[] {Double.NaN, 1.5}};
    }
    public static class Matrix {
        public int[][] value;
        static Object[] all = {new int[][] {{1}, {}}};
    }
    public static class Strings {
        public String[] value;
        static Object[] all = {new String[] {"a"}};
    }
    public static class Lines {
        public Line[] value;
        static Object[] all = {new Line[] {new Line()}};
    }
    public static class ListOfBytes {
        public List<byte[]> value;
        static Object[] all = {List.of(new byte[] {1})};
    }
    public static class ListOfChars {
        public List<Character> value;
        static Object[] all = {List.of('a')};
    }
    public static class ListOfList {
        public List<List<Integer>> value;
        static Object[] all = {List.of(List.of(1), List.of())};
    }
    public static class ListOfDecimal {
        public List<BigDecimal> value;
        static Object[] all = {List.of(BigDecimal.ONE)};
    }
    public static class ListOfUUID {
        public List<UUID> value;
        static Object[] all = {List.of(new UUID(1, 2))};
    }
    public static class ListOfInstant {
        public List<Instant> value;
        static Object[] all = {List.of(Instant.MAX)};
    }
    public static class ListOfDate {
        public List<LocalDate> value;
        static Object[] all = {List.of(LocalDate.MIN)};
    }
    public static class ListOfLine {
        public ArrayList<Line> value;
        static Object[] all = {new ArrayList<>(List.of(new Line()))};
    }
    public static class ListOfMap {
        public List<Map<Integer, String>> value;
        static Object[] all = {List.of(Map.of(1, "a"))};
    }
    public static class SetOfEnum {
        public Set<Color> value;
        static Object[] all = {Set.of(Color.RED)};
    }
    public static class EnumSet_ {
        public EnumSet<Color> value;
        static Object[] all = {EnumSet.of(Color.RED)};
    }
    public static class Collection_ {
        public Collection<Long> value;
        static Object[] all = {List.of(1L)};
    }

    // Maps

    public static class ByString {
        public Map<String, Integer> value;
        static Object[] all = {Map.of("", 1), Map.of()};
    }
    public static class ByStringOfNull {
        public Map<String, Integer> value;
        static Object[] all = {nulls()};
    }
    public static class BySorted {
        public TreeMap<String, Line> value;
        static Object[] all = {new TreeMap<>(Map.of("a", new Line()))};
    }
    public static class ByBool {
        public Map<Boolean, String> value;
        static Object[] all = {Map.of(true, "a")};
    }
    public static class ByByte {
        public Map<Byte, String> value;
        static Object[] all = {Map.of((byte) -1, "a")};
    }
    public static class ByShort {
        public Map<Short, String> value;
        static Object[] all = {Map.of((short) -1, "a")};
    }
    public static class ByInt {
        public Map<Integer, Line> value;
        static Object[] all = {Map.of(Integer.MIN_VALUE, new Line())};
    }
    public static class ByLong {
        public HashMap<Long, String> value;
        static Object[] all = {new HashMap<>(Map.of(Long.MIN_VALUE, "a"))};
    }
    public static class ByFloat {
        public Map<Float, String> value;
        static Object[] all = {Map.of(1.5f, "a"), Map.of(Float.NaN, "b"), Map.of(1e-10f, "c")};
    }
    public static class ByDouble {
        public Map<Double, String> value;
        static Object[] all = {Map.of(1e300, "a"), Map.of(Double.NEGATIVE_INFINITY, "b")};
    }
    public static class ByChar {
        public Map<Character, String> value;
        static Object[] all = {Map.of('a', "a")};
    }
    public static class ByEnum {
        public Map<Color, Integer> value;
        static Object[] all = {Map.of(Color.RED, 1)};
    }
    public static class ByEnum_ {
        public EnumMap<Color, Long> value;
        static Object[] all = {new EnumMap<>(Map.of(Color.RED, 1L))};
    }
    public static class ByUUID {
        public Map<UUID, String> value;
        static Object[] all = {Map.of(new UUID(1, 2), "a")};
    }
    public static class ByInstant {
        public Map<Instant, String> value;
        static Object[] all = {Map.of(Instant.MAX, "a"), Map.of(Instant.EPOCH, "b")};
    }
    public static class ByLocalDate {
        public Map<LocalDate, String> value;
        static Object[] all = {Map.of(LocalDate.MIN, "a")};
    }
    public static class ByLocalTime {
        public Map<LocalTime, String> value;
        static Object[] all = {Map.of(LocalTime.NOON, "a")};
    }
    public static class ByLocalDateTime {
        public Map<LocalDateTime, String> value;
        static Object[] all = {Map.of(LocalDateTime.MIN, "a")};
    }
    public static class ByZoned {
        public Map<ZonedDateTime, String> value;
        static Object[] all = {
            Map.of(ZonedDateTime.parse("2024-01-01T00:00:00+01:00[Europe/Berlin]"), "a")
        };
    }
    public static class ByYear {
        public Map<Year, String> value;
        static Object[] all = {Map.of(Year.of(2024), "a")};
    }
    public static class ByDate {
        public Map<Date, String> value;
        static Object[] all = {Map.of(new Date(5), "a")};
    }
    public static class ByDecimal {
        public Map<BigDecimal, String> value;
        static Object[] all = {Map.of(new BigDecimal("1E+3"), "a")};
    }
    public static class ByBig {
        public Map<BigInteger, String> value;
        static Object[] all = {Map.of(BigInteger.TEN.pow(30), "a")};
    }
    public static class ByURI {
        public Map<URI, String> value;
        static Object[] all = {Map.of(URI.create("a:b"), "a")};
    }
    public static class ByMap {
        public Map<Integer, Map<Color, List<Map<Long, Line>>>> value;
        static Object[] all = {Map.of(1, Map.of(Color.RED, List.of(Map.of(2L, new Line()))))};
    }

    // Records

    public static class Nested { public Line value; static Object[] all = {new Line()}; }
    public static class Record_ {
        public Pair value;
        static Object[] all = {new Pair(1, "a"), new Pair(1, null)};
    }
    public static class Linked { public Linked value; static Object[] all = {new Linked()}; }

    private JsonScenario() { }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("write")) {
            write();
        } else {
            read();
        }
    }

    private static void write() throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        for (Class<?> each : JsonScenario.class.getDeclaredClasses()) {
            if (List.of("Line", "Pair", "Color").contains(each.getSimpleName())) {
                continue;
            }
            SchemaInfo info = schema(each).getSchemaInfo();
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("name", each.getSimpleName());
            line.put("type", info.getType().name());
            line.put("schema", info.getSchemaDefinition());
            line.put("properties", info.getProperties());
            line.put("payloads", payloads(each));
            System.out.println("> " + mapper.writeValueAsString(line));
        }
    }

    private static List<String> payloads(Class<?> each) throws Exception {
        List<String> payloads = new ArrayList<>();
        var constructor = each.getDeclaredConstructor();
        payloads.add(encoded(each, constructor.newInstance()));
        for (Object value : (Object[]) each.getDeclaredField("all").get(null)) {
            Object written = constructor.newInstance();
            each.getField("value").set(written, value);
            payloads.add(encoded(each, written));
        }
        return payloads;
    }

    private static void read() throws Exception {
        BufferedReader in = new BufferedReader(
            new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ", -1);
            Class<?> each = Class.forName("JsonScenario$" + words[0]);
            System.out.println("> " + read(each, Base64.getDecoder().decode(words[1])));
        }
    }

    private static String read(Class<?> each, byte[] payload) {
        Object value;
        try {
            value = schema(each).decode(payload);
        } catch (RuntimeException refused) {
            return "no";
        }
        try {
            return encoded(each, value);
        } catch (RuntimeException unwritable) {
            return "";
        }
    }

    private static String encoded(Class<?> each, Object value) {
        return Base64.getEncoder().encodeToString(schema(each).encode(value));
    }

    private static final Map<Class<?>, Schema<Object>> SCHEMAS = new HashMap<>();

    @SuppressWarnings("unchecked")
    private static Schema<Object> schema(Class<?> each) {
        return SCHEMAS.computeIfAbsent(each, one -> (Schema<Object>) Schema.JSON(one));
    }

    private static URL url(String text) {
        try {
            return new URL(text);
        } catch (java.net.MalformedURLException impossible) {
            throw new IllegalArgumentException(impossible);
        }
    }

    private static Calendar calendar() {
        Calendar calendar = Calendar.getInstance(TimeZone.getTimeZone("UTC"));
        calendar.setTimeInMillis(5);
        return calendar;
    }

    private static Map<String, Integer> nulls() {
        Map<String, Integer> nulls = new HashMap<>();
        nulls.put("a", null);
        return nulls;
    }
}

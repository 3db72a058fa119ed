import com.google.protobuf.ByteString;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.UninitializedMessageException;
import com.google.protobuf.UnknownFieldSet;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;

/**
 * What Protobuf's parsers make of messages of another definition.
 *
 * <p>Takes lines of a seed, a writer and a reader: sets of one file each, in base64, whose root is
 * the message `Root`. Prints for each line, with how many messages were written: how many of them
 * the reader fails on, and of how many it has another value than the writer.
 */
public final class DescriptorPairs {
    private static final int MESSAGES = 400;
    private static final long[] NUMBERS = {
        0, 1, 2, 3, 5, -1, -2, 127, 128, 300, Integer.MAX_VALUE, Integer.MIN_VALUE, 1L << 31,
        (1L << 32) - 1, 1L << 32, Long.MAX_VALUE, Long.MIN_VALUE};
    private static final float[] FLOATS = {0f, 1.5f, -2.5f};
    private static final String[] TEXTS = {"", "a", "b", "\n\001x", "\u00fc", "\b\001", "xyz", "x".repeat(200)};
    private static final int UNNAMED = 300;
    /** What a writer passes on of a later definition. */
    private static final UnknownFieldSet LATER = UnknownFieldSet.newBuilder()
        .addField(1000, UnknownFieldSet.Field.newBuilder()
            .addLengthDelimited(ByteString.copyFrom(new byte[] {(byte) 0xff})).build())
        .build();
    private static final byte[][] BYTES = {{}, {'a'}, {(byte) 0xff}, {8, 1}, {8, 7, 16}, {10, 1, 'x'}};

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ", -1);
            Random random = new Random(Long.parseLong(words[0]));
            System.out.println("> " + compared(random, root(words[1]), root(words[2])));
        }
    }

    private static Descriptor root(String text) throws Exception {
        FileDescriptorSet files = FileDescriptorSet.parseFrom(Base64.getDecoder().decode(text));
        FileDescriptorProto file = files.getFile(0);
        return FileDescriptor.buildFrom(file, new FileDescriptor[0]).findMessageTypeByName("Root");
    }

    private static String compared(Random random, Descriptor writer, Descriptor reader) {
        int written = 0;
        int failed = 0;
        int changed = 0;
        for (int count = 0; count < MESSAGES; count++) {
            DynamicMessage message = made(random, writer);
            written++;
            try {
                DynamicMessage found = DynamicMessage.parseFrom(reader, message.toByteString());
                changed += isKept(message, found) ? 0 : 1;
            } catch (InvalidProtocolBufferException | UninitializedMessageException refused) {
                failed++;
            }
        }
        return written + " " + failed + " " + changed;
    }

    private static DynamicMessage made(Random random, Descriptor type) {
        DynamicMessage.Builder builder = DynamicMessage.newBuilder(type);
        boolean isEntry = type.getOptions().getMapEntry();  // of which writers write both fields
        for (FieldDescriptor field : type.getFields()) {
            if (field.isRepeated()) {
                for (int left = random.nextInt(4); left > 0; left--) {
                    builder.addRepeatedField(field, value(random, field));
                }
            } else if (isEntry || field.isRequired() || random.nextBoolean()) {
                builder.setField(field, value(random, field));
            }
        }
        if (random.nextInt(4) == 0 && !isEntry) {
            builder.setUnknownFields(LATER);
        }
        return builder.build();
    }

    private static Object value(Random random, FieldDescriptor field) {
        long number = NUMBERS[random.nextInt(NUMBERS.length)];
        switch (field.getJavaType()) {
            case INT: return (int) number;
            case LONG: return number;
            case FLOAT: return FLOATS[random.nextInt(FLOATS.length)];
            case DOUBLE: return (double) FLOATS[random.nextInt(FLOATS.length)];
            case BOOLEAN: return random.nextBoolean();
            case STRING: return TEXTS[random.nextInt(TEXTS.length)];
            case BYTE_STRING: return ByteString.copyFrom(BYTES[random.nextInt(BYTES.length)]);
            case MESSAGE: return made(random, field.getMessageType());
            default:
                List<EnumValueDescriptor> values = field.getEnumType().getValues();
                boolean isNew = !field.getEnumType().isClosed() && random.nextInt(4) == 0;
                return isNew
                    ? field.getEnumType().findValueByNumberCreatingIfUnknown(UNNAMED)
                    : values.get(random.nextInt(values.size()));
        }
    }

    /** Whether each value that was written is there; an item that is not counts as a lost one. */
    private static boolean isKept(Message written, Message read) {
        for (FieldDescriptor field : written.getDescriptorForType().getFields()) {
            FieldDescriptor there = read.getDescriptorForType().findFieldByNumber(field.getNumber());
            if (!isSet(written, field)) {
                continue;
            }
            if (there == null || !isSame(items(written, field), items(read, there))) {
                return false;
            }
        }
        return true;
    }

    private static boolean isSet(Message message, FieldDescriptor field) {
        return field.isRepeated()
            ? message.getRepeatedFieldCount(field) > 0
            : message.hasField(field);
    }

    /** A field that is not set has its default; a message then has no item. */
    private static List<Object> items(Message message, FieldDescriptor field) {
        List<Object> found = new ArrayList<>();
        if (field.isRepeated()) {
            ((List<?>) message.getField(field)).forEach(found::add);
        } else if (field.getJavaType() != FieldDescriptor.JavaType.MESSAGE || isSet(message, field)) {
            found.add(message.getField(field));
        }
        boolean isUnsigned = switch (field.getType()) {
            case UINT32, FIXED32 -> true;
            case UINT64, FIXED64 -> true;
            default -> false;
        };
        found.replaceAll(one -> plain(one, isUnsigned));
        return field.isMapField() ? entries(found) : found;
    }

    private static Object plain(Object value, boolean isUnsigned) {
        if (value instanceof Integer number) {
            return Long.toString(isUnsigned ? Integer.toUnsignedLong(number) : number);
        }
        if (value instanceof Long number) {
            return isUnsigned ? Long.toUnsignedString(number) : Long.toString(number);
        }
        if (value instanceof String text) {
            return ByteString.copyFromUtf8(text);
        }
        return value;
    }

    private static List<Object> entries(List<Object> found) {
        Map<String, Object> last = new TreeMap<>();
        for (Object each : found) {
            Message entry = (Message) each;
            last.put(entry.getField(entry.getDescriptorForType().findFieldByNumber(1)).toString(), entry);
        }
        return new ArrayList<>(last.values());
    }

    private static boolean isSame(List<Object> written, List<Object> read) {
        if (written.size() != read.size()) {
            return false;
        }
        for (int at = 0; at < written.size(); at++) {
            if (!isSame(written.get(at), read.get(at))) {
                return false;
            }
        }
        return true;
    }

    /** Enums are the same by the name; bytes and the numbers of enums and booleans by their value. */
    private static boolean isSame(Object written, Object read) {
        if (written instanceof Message before && read instanceof Message after) {
            return isKept(before, after);
        }
        if (written instanceof EnumValueDescriptor before && read instanceof EnumValueDescriptor after) {
            return before.getName().equals(after.getName());
        }
        return Objects.equals(number(written), number(read));
    }

    private static Object number(Object value) {
        if (value instanceof Boolean is) {
            return is ? "1" : "0";
        }
        return value instanceof EnumValueDescriptor symbol ? Integer.toString(symbol.getNumber()) : value;
    }
}

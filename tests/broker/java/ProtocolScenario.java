import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Scanner;
import org.apache.pulsar.client.impl.JavaStringHash;
import org.apache.pulsar.client.impl.Murmur3Hash32;
import org.apache.pulsar.common.api.proto.BaseCommand;
import org.apache.pulsar.common.api.proto.MessageMetadata;
import org.apache.pulsar.common.api.proto.SingleMessageMetadata;
import org.apache.pulsar.common.compression.CompressionCodecProvider;
import org.apache.pulsar.common.protocol.Commands;
import org.apache.pulsar.common.api.proto.CompressionType;

/**
 * What Pulsar's own classes make of bytes and keys; each line that is read is answered by one.
 *
 * <p>Lines: "BaseCommand BASE64", "MessageMetadata BASE64", "SingleMessageMetadata BASE64" are
 * parsed and written again; "frame BASE64" is checked and answered with the payload; "hash BASE64"
 * is answered with both hashes of that text; "LZ4 SIZE BASE64" and its like are decompressed.
 */
public final class ProtocolScenario {

    public static void main(String[] args) throws Exception {
        Scanner lines = new Scanner(System.in, StandardCharsets.UTF_8);
        List<String> answers = new ArrayList<>();
        while (lines.hasNextLine()) {
            answers.add(answer(lines.nextLine().split(" ", -1)));
        }
        answers.forEach(answer -> System.out.println("> " + answer));
    }

    private static String answer(String[] words) throws Exception {
        byte[] data = Base64.getDecoder().decode(words[words.length - 1]);
        ByteBuf buffer = Unpooled.copiedBuffer(data);
        ByteBuf out = Unpooled.buffer();
        switch (words[0]) {
            case "BaseCommand" -> {
                BaseCommand command = new BaseCommand();
                command.parseFrom(buffer, data.length);
                new BaseCommand().copyFrom(command).writeTo(out);
            }
            case "MessageMetadata" -> {
                MessageMetadata metadata = new MessageMetadata();
                metadata.parseFrom(buffer, data.length);
                new MessageMetadata().copyFrom(metadata).writeTo(out);
            }
            case "SingleMessageMetadata" -> {
                SingleMessageMetadata metadata = new SingleMessageMetadata();
                metadata.parseFrom(buffer, data.length);
                new SingleMessageMetadata().copyFrom(metadata).writeTo(out);
            }
            case "frame" -> {
                int size = buffer.readInt();
                if (size != buffer.readableBytes()) {
                    return "size " + size + " is not " + buffer.readableBytes();
                }
                buffer.skipBytes(buffer.readInt());
                if (!Commands.hasChecksum(buffer)) {
                    return "no checksum";
                }
                int sum = Commands.readChecksum(buffer);
                int computed = com.scurrilous.circe.checksum.Crc32cIntChecksum.computeChecksum(buffer);
                if (sum != computed) {
                    return "checksum " + sum + " is not " + computed;
                }
                Commands.skipMessageMetadata(buffer);
                out.writeBytes(buffer);
            }
            case "hash" -> {
                String key = new String(data, StandardCharsets.UTF_8);
                return JavaStringHash.getInstance().makeHash(key) + " "
                        + Murmur3Hash32.getInstance().makeHash(key);
            }
            default -> out.writeBytes(CompressionCodecProvider
                    .getCompressionCodec(CompressionType.valueOf(words[0]))
                    .decode(buffer, Integer.parseInt(words[1])));
        }
        byte[] written = new byte[out.readableBytes()];
        out.readBytes(written);
        return Base64.getEncoder().encodeToString(written);
    }
}

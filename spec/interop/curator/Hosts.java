import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Scanner;
import org.apache.zookeeper.client.ConnectStringParser;

/** What Java's client reads of a text of hosts: lines of hexadecimal digits. */
public final class Hosts {
    private static String read(String text) {
        ConnectStringParser parser;
        try {
            parser = new ConnectStringParser(text);
        } catch (RuntimeException e) {
            return "refused";
        }
        StringBuilder words = new StringBuilder();
        for (InetSocketAddress address : parser.getServerAddresses()) {
            words.append(address.getHostString()).append(' ')
                .append(address.getPort()).append('|');
        }
        String chroot = parser.getChrootPath();
        return words.append(chroot == null ? "" : chroot).toString();
    }

    private static byte[] unhex(String digits) {
        byte[] bytes = new byte[digits.length() / 2];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) Integer.parseInt(
                digits.substring(2 * i, 2 * i + 2), 16);
        }
        return bytes;
    }

    public static void main(String[] arguments) {
        Scanner in = new Scanner(System.in, StandardCharsets.US_ASCII);
        while (in.hasNextLine()) {
            String text =
                new String(unhex(in.nextLine()), StandardCharsets.UTF_8);
            StringBuilder digits = new StringBuilder();
            for (byte one : read(text).getBytes(StandardCharsets.UTF_8)) {
                digits.append(String.format("%02x", one));
            }
            System.out.println(digits);
        }
    }
}

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;

/**
 * Sends one request with the client of the JDK, on a connection that has been used. It offers HTTP/2 with each request.
 * Arguments: URL, body or "" for a GET, Idempotency-Key or "".
 */
public class JavaHttpClient {
  public static void main(String[] args) throws IOException, InterruptedException {
    var client = HttpClient.newHttpClient();
    var url = URI.create(args[0]);
    var request = HttpRequest.newBuilder(url).header("Content-Type", "application/json");
    if (!args[1].isEmpty()) request.POST(BodyPublishers.ofString(args[1]));
    if (!args[2].isEmpty()) request.header("Idempotency-Key", args[2]);

    client.send(HttpRequest.newBuilder(url.resolve("/health")).build(), BodyHandlers.discarding());
    var response = client.send(request.build(), BodyHandlers.ofString());
    System.out.printf("{\"status\": %d, \"body\": %s}%n", response.statusCode(), response.body());
  }
}

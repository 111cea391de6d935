import java.io.IOException;
import java.time.Duration;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;

/**
 * Sends one request on a connection that has been used. Arguments: URL, body or "" for a GET, Idempotency-Key or "".
 * The read timeout is long enough for requests that wait; all else is OkHttp's default.
 */
public class OkHttp {
  public static void main(String[] args) throws IOException {
    var client = new OkHttpClient.Builder().readTimeout(Duration.ofMinutes(2)).build();
    var request = new Request.Builder().url(args[0]);
    if (!args[1].isEmpty()) request.post(RequestBody.create(args[1], MediaType.get("application/json")));
    if (!args[2].isEmpty()) request.header("Idempotency-Key", args[2]);

    client.newCall(new Request.Builder().url(request.build().url().resolve("/health")).build()).execute().close();
    try (var response = client.newCall(request.build()).execute()) {
      System.out.printf("{\"status\": %d, \"body\": %s}%n", response.code(), response.body().string());
    }
  }
}

import com.google.gson.Gson;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.FindApi;
import org.openapitools.client.api.MessagesApi;
import org.openapitools.client.api.StartApi;
import org.openapitools.client.model.ListedRun;
import org.openapitools.client.model.MessageRequest;
import org.openapitools.client.model.StartRequest;

/**
 * Starts, signals and lists with the generated client. Argument: base URL. Prints what it received. The client sends
 * empty lists for `args` and `payloads` beside `input` and `payload`.
 */
public class Program {
  public static void main(String[] args) throws ApiException {
    var client = new ApiClient().setBasePath(args[0]).setReadTimeout(60_000);

    var request = new StartRequest().workflowName("waitForSignal").input("Ada");
    var started = new StartApi(client).startWorkflow(request, null, null, null, null);
    var message = new MessageRequest().payload("done");
    var id = started.getWorkflowId();
    var signal = new MessagesApi(client).signalWorkflow(id, "finish", null, null, null, null, message);
    var page = new FindApi(client).listRuns("nothing", null, null, null, null, null, null, null, null, null, 10, null, null, null);
    var listed = page.getRuns().stream().map(ListedRun::getWorkflowId).toList();

    var received = Map.of("status", started.getStatus(), "accepted", signal.getAccepted(), "listed", listed);
    System.out.println(new Gson().toJson(received));
  }
}

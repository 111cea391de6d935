import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["WEBHOOK_SECRET"])

# In a real project, a table with a unique key.
processed = set()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        # The bytes as they arrived: JSON that is parsed and written again has another signature.
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            webhook.verify(body, {name.lower(): value for name, value in self.headers.items()})
        except WebhookVerificationError:
            return self.respond(401)
        if self.headers["webhook-id"] not in processed:
            message = json.loads(body)
            print(message["type"], message["data"]["workflowId"], flush=True)
            processed.add(self.headers["webhook-id"])
        self.respond(204)

    def respond(self, status):
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()


ThreadingHTTPServer(("", int(os.environ.get("PORT", "8080"))), Receiver).serve_forever()

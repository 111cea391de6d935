/** Receives the webhooks of docs/webhooks.md: verifies the signature, and processes each message once. */
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'

const webhook = new Webhook(process.env.WEBHOOK_SECRET ?? '')

// In a real project, a table with a unique key.
const processed = new Set<string>()

createServer(async (request, response) => {
  const id = String(request.headers['webhook-id'])
  // The bytes as they arrived: JSON that is parsed and written again has another signature.
  const body = await text(request)
  try {
    webhook.verify(body, request.headers as Record<string, string>)
  } catch {
    response.writeHead(401).end()
    return
  }
  if (!processed.has(id)) {
    const { type, data } = JSON.parse(body)
    console.log(type, data.workflowId)
    processed.add(id)
  }
  response.writeHead(204).end()
}).listen(Number(process.env.PORT ?? 8080))

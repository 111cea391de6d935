/**
 * The transport of the AI SDK's `useChat` for a workflow that streams an answer: docs/ai-sdk.md.
 * Each answer is a run of the workflow, and the id of the chat is its workflow id.
 */
import { DefaultChatTransport } from 'ai'

export function chatTransport(portico: string, workflowName: string, headers: Record<string, string> = {}) {
  const streamUrl = (id: string) => `${portico}/workflow/${encodeURIComponent(id)}/stream?format=ui-message&topic=chat`

  return new DefaultChatTransport({
    api: `${portico}/workflow/start`,
    headers,
    prepareSendMessagesRequest: ({ id, messages }) => ({
      body: { workflowName, workflowId: id, input: { messages } },
    }),
    prepareReconnectToStreamRequest: ({ id }) => ({ api: streamUrl(id) }),
    async fetch(url, init) {
      const response = await fetch(url, init)
      // A chat without a run has nothing to resume.
      if (init?.method === 'GET') return response.status === 404 ? new Response(null, { status: 204 }) : response
      if (!response.ok) return response
      const { workflowId } = await response.json()
      return fetch(streamUrl(workflowId), { headers, signal: init?.signal ?? null })
    },
  })
}

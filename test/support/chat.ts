import { AbstractChat, type ChatState, type ChatTransport, type UIMessage } from 'ai'

/** The first chunks of a message. */
export const BEGINNING = [
  { type: 'start', messageId: 'm1' },
  { type: 'start-step' },
  { type: 'text-start', id: '1' },
  { type: 'text-delta', id: '1', delta: 'Hello' },
]

/** The others: with them its text is `Hello, Ada`. */
export const REST = [
  { type: 'text-delta', id: '1', delta: ', Ada' },
  { type: 'text-end', id: '1' },
  { type: 'finish-step' },
  { type: 'finish' },
]

/** What `useChat` shows, without React: the chat of a page. */
class Chat extends AbstractChat<UIMessage> {}

export interface OpenChat {
  id: string
  transport: ChatTransport<UIMessage>
  /** What the page shows before it reads anything. */
  messages?: UIMessage[]
}

/** Opens a page with the chat. Without React the messages are a list. */
export function openChat({ id, transport, messages = [] }: OpenChat): Chat {
  const shown = structuredClone(messages)
  const state: ChatState<UIMessage> = {
    status: 'ready',
    error: undefined,
    messages: shown,
    pushMessage: (message) => void shown.push(message),
    popMessage: () => void shown.pop(),
    replaceMessage(index, message) {
      shown[index] = message
    },
    snapshot: structuredClone,
  }
  return new Chat({ id, transport, state })
}

/** The text of each message. */
export function textsOf(chat: Chat): string[] {
  return chat.messages.map(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')).join(''))
}

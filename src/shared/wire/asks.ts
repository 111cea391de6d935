/** The memo field with what a run asks people: an object of `Ask`, by key. Workflow code writes it. */
export const ASKS_MEMO = '$asks'

/** The Temporal header with the digest of the content, in the signals with which the service sends answers. */
export const ANSWER_DIGEST = 'portico-answer'

/** A question that is open. Its key is a UUID, which no other question has. */
export interface Ask {
  /** The signal that takes the answer. */
  signal: string
  message: string
  /** JSON Schema of the answer's content. */
  schema: Readonly<Record<string, unknown>>
  /** Names of people or groups that the question is for. */
  to?: readonly string[]
  /** RFC 3339. */
  askedAt?: string
  /** Until when the workflow needs the answer, RFC 3339. */
  due?: string
}

/** The argument of the signal. */
export interface Answer {
  key: string
  content: unknown
}

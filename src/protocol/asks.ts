/** The memo field with what a run asks people: an object of `Ask`, by key. Workflow code writes it. */
export const ASKS_MEMO = '$asks'

/** A question that is open. Its key is a UUID, which no other question has. */
export interface Ask {
  /** The signal that takes the answer. */
  signal: string
  message: string
  /** JSON Schema of the answer's content. */
  schema: Readonly<Record<string, unknown>>
}

/** The argument of the signal. */
export interface Answer {
  key: string
  content: unknown
}

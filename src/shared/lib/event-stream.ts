/** Reads server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html */
export interface ServerEvent {
  /** Where to continue after this event. Events that have only an id exist too. */
  id: string | undefined
  event: string | undefined
  /** Undefined without data. */
  data: unknown
  /** When to connect again after this event. */
  retryMs: number | undefined
}

/** The events of the body, until it ends. `read` gets each step of the reading, and may reject before it settles. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  parse: (text: string) => unknown,
  read: <T>(step: Promise<T>) => Promise<T>,
): AsyncGenerator<ServerEvent> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let unread = ''
  while (true) {
    const { value, done } = await read(reader.read())
    // An event without its blank line is incomplete.
    if (done) return
    const text = decoder.decode(value, { stream: true })
    unread += text
    // Splitting a large event again with each of its parts would be slow.
    if (!text.includes('\n')) continue
    const blocks = unread.split(/\r?\n\r?\n/)
    unread = blocks.pop() ?? ''
    for (const block of blocks) yield toEvent(block, parse)
  }
}

function toEvent(block: string, parse: (text: string) => unknown): ServerEvent {
  const fields = new Map<string, string>()
  // JSON may contain U+2028, which ends a line for `.` and `$` of regular expressions.
  for (const line of block.split(/\r?\n/)) {
    const [head = '', name = ''] = /^([^:]*):? ?/.exec(line) ?? []
    const value = line.slice(head.length)
    const before = name === 'data' ? fields.get(name) : undefined
    fields.set(name, before === undefined ? value : `${before}\n${value}`)
  }
  const [data, retry] = [fields.get('data'), fields.get('retry')]
  return {
    id: fields.get('id'),
    event: fields.get('event'),
    data: data === undefined ? undefined : parse(data),
    retryMs: retry === undefined ? undefined : Number(retry),
  }
}

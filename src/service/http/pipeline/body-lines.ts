/** Reads the lines of a request body while it arrives. */
import { unlessAborted } from '../../../shared/lib/abort.ts'
import { ServiceError } from '../../model/errors.ts'
import { received } from './body.ts'

export interface LineLimits {
  maxLineBytes: number
  maxLines: number
  /** How long no byte may arrive. */
  idleMs: number
}

/** The bytes of a line without its end, or why they were not kept. */
export type Line = Uint8Array<ArrayBuffer> | 'too long' | 'too many'

const LF = 10

/**
 * The lines that are not empty. After `too many`, the rest of the body is read and dropped. Rejects if the body is late
 * or does not end; the last line, which then has no end, is not returned.
 */
export async function* readLines(
  { body }: Pick<Request, 'body'>,
  { idleMs, ...limits }: LineLimits,
  signal: AbortSignal,
): AsyncGenerator<Line, void> {
  if (body === null) return
  const reader = body.getReader()
  const splitter = createSplitter(limits)
  try {
    while (true) {
      const { value, done } = await received(unlessAborted(reader.read(), signal), idleMs, late)
      if (done) break
      yield* splitter.add(value)
    }
    // Some runtimes end the body when the client leaves.
    signal.throwIfAborted()
    yield* splitter.end()
  } finally {
    // Drops the rest if the body was rejected or is no longer wanted.
    reader.cancel().catch(() => {})
  }
}

function late(ms: number): ServiceError {
  return new ServiceError('RequestTimeoutError', `Nothing of the request body arrived for ${ms} ms`)
}

/** Returns the lines that end with a chunk, or with the body. */
function createSplitter({ maxLineBytes, maxLines }: Omit<LineLimits, 'idleMs'>) {
  let parts: Uint8Array[] = []
  let size = 0
  let lines = 0

  function addPart(part: Uint8Array): void {
    size += part.byteLength
    if (size > maxLineBytes) parts = []
    else parts.push(part)
  }

  function endLine(): Line[] {
    const line = size > maxLineBytes ? 'too long' : joined(parts, size)
    parts = []
    size = 0
    if (line !== 'too long' && line.every((byte) => WHITESPACE.has(byte))) return []
    lines++
    return [lines > maxLines ? 'too many' : line]
  }

  function add(chunk: Uint8Array): Line[] {
    const ended: Line[] = []
    let start = 0
    for (let end = chunk.indexOf(LF); end !== -1 && lines <= maxLines; end = chunk.indexOf(LF, start)) {
      addPart(chunk.subarray(start, end))
      ended.push(...endLine())
      start = end + 1
    }
    addPart(chunk.subarray(start))
    return ended
  }

  const isFull = () => lines > maxLines
  return { add: (chunk: Uint8Array) => (isFull() ? [] : add(chunk)), end: () => (isFull() ? [] : endLine()) }
}

function joined(parts: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.byteLength
  }
  return bytes
}

const WHITESPACE = new Set([0x09, 0x0d, 0x20])

import { StoreError } from './store-call.ts'

/** The whole body as text. Rejects with a `StoreError` as soon as it is larger than `maxBytes`, or when it is cut short. */
export async function readBody(store: string, response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    // Leaving the loop cancels the rest.
    if (bytes > maxBytes) throw new StoreError(`${store} has more than ${maxBytes} bytes there`)
    chunks.push(chunk)
  }
  // Not every runtime minds a body that ends early; of an encoded one nobody has told us the length.
  const announced = response.headers.has('content-encoding') ? null : response.headers.get('content-length')
  if (announced !== null && bytes < Number(announced))
    throw new StoreError(`${store} cut its answer short`, { passing: true })
  return new TextDecoder().decode(join(chunks, bytes))
}

function join(chunks: readonly Uint8Array[], bytes: number): Uint8Array {
  const whole = new Uint8Array(bytes)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}

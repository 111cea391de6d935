export interface BodyText {
  text: string
  /** Fewer bytes than `Content-Length` arrived. Not every runtime rejects such a body. */
  isTruncated: boolean
}

/** Reads a body as UTF-8. Null when it is larger than `maxBytes`; the rest is then cancelled. */
export async function readText({ headers, body }: Response, maxBytes: number): Promise<BodyText | null> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    // Leaving the loop cancels the rest.
    if (bytes > maxBytes) return null
    text += decoder.decode(chunk, { stream: true })
  }
  text += decoder.decode()
  // The length of an encoded body is that of the encoded bytes.
  const announced = headers.has('content-encoding') ? null : headers.get('content-length')
  return { text, isTruncated: announced !== null && bytes < Number(announced) }
}

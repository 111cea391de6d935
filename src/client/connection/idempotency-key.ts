/** A key that no other call has. `crypto.randomUUID` exists only in pages that were loaded over https. */
export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** The header with the key, and whether the request can be repeated: only with a key. */
export function withKey(key: string | undefined): { headers: Record<string, string>; isRetryable: boolean } {
  if (key === undefined) return { headers: {}, isRetryable: false }
  return { headers: { 'Idempotency-Key': key }, isRetryable: true }
}

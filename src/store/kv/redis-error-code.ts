/** The first word of an error reply of Redis, like WRONGTYPE; empty without one. The rest may repeat what was sent. */
export function redisErrorCode(message: string): string {
  return /^[A-Z]{2,20}(?= )/.exec(message)?.[0] ?? ''
}

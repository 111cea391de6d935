/** The first word of a refusal of Redis, like WRONGTYPE, with a space before it: the rest may repeat what was sent. */
export function redisCode(message: string): string {
  const [code] = /^[A-Z]{2,20}(?= )/.exec(message) ?? []
  return code === undefined ? '' : ` ${code}`
}

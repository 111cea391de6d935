/**
 * The code of an error reply of Redis, like WRONGTYPE; empty without one. It is the first word, or within the error of
 * a script that of the command that failed. The rest may repeat what was sent.
 */
export function redisErrorCode(message: string): string {
  return (
    /^ERR Error running script .*?: -([A-Z]{2,20}) /.exec(message)?.[1] ?? /^[A-Z]{2,20}(?= )/.exec(message)?.[0] ?? ''
  )
}

/** What `node:timers/promises` has, without the milliseconds that Bun and Deno take to load it. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

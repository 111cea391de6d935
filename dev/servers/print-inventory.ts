/**
 * Prints the memory, timers and sockets of this process after each SIGUSR2. With `--expose-gc` it collects garbage
 * first.
 */

export interface Inventory {
  heapBytes: number
  rssBytes: number
  /** The highest so far. */
  peakRssBytes: number
  timers: number
  sockets: number
}

process.on('SIGUSR2', () => {
  globalThis.gc?.()
  const resources = process.getActiveResourcesInfo()
  const count = (name: string) => resources.filter((resource) => resource === name).length
  const { heapUsed, rss } = process.memoryUsage()
  const inventory: Inventory = {
    heapBytes: heapUsed,
    rssBytes: rss,
    peakRssBytes: process.resourceUsage().maxRSS * 1024,
    timers: count('Timeout'),
    sockets: count('TCPSocketWrap'),
  }
  process.stdout.write(`${JSON.stringify({ level: 'info', message: 'inventory', ...inventory })}\n`)
})

import { onTestFinished, vi } from 'vitest'

/** Until the end of the test, requests do not share promises, as on Cloudflare Workers. */
export function isolateRequests(): void {
  vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' })
  onTestFinished(() => void vi.unstubAllGlobals())
}

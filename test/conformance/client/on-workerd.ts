/** Entry of the suite for workerd: a Worker that runs it when it is requested. */
import { runSuite } from './run-suite.ts'

// biome-ignore lint/style/noDefaultExport: workerd requires it
export default {
  async fetch(request: Request): Promise<Response> {
    const testUrl = new URL(request.url).searchParams.get('test')
    if (testUrl !== null) await runSuite(testUrl)
    return new Response('ready')
  },
}

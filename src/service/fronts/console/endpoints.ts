/** `GET /console`: pages that show runs and start workflows, for browsers. */

import { respond } from '../../http/context.ts'
import { endpoint } from '../../http/endpoint.ts'
import { fileResponses, OF_FILE, OF_PAGE, PAGE } from '../../http/page-files.ts'
import { notFound } from '../../http/pipeline/unmatched.ts'

const OF_CONSOLE = { docs: 'api/service.md#console', feature: 'console' } as const

/** All of them are the same file: its script reads the URL. They are at the same depth, so relative URLs work. */
const PAGES: ReadonlySet<string> = new Set(['runs', 'run', 'start', 'questions'])

const entry = endpoint({
  ...OF_PAGE,
  ...OF_CONSOLE,
  takes: 'nothing',
  path: '/console',
  id: 'getConsole',
  summary: 'Go to the console',
  responses: { 302: { description: 'To its runs', headers: ['Location'] } },
  errors: [],
  handle: (c) => respond(c, null, 302, { Location: `${c.get('basePath')}/console/runs` }),
})

const file = endpoint({
  ...OF_FILE,
  ...OF_CONSOLE,
  path: '/console/:file',
  id: 'getConsoleFile',
  summary: 'Get a file of the console',
  responses: fileResponses('text/html', 'text/css', 'text/javascript'),
  handle(c, { file, respondConsoleFile }) {
    const name = file(c)
    return name === PAGE ? notFound(c) : respondConsoleFile(c, PAGES.has(name) ? PAGE : name)
  },
})

export const consoleEndpoints = [entry, file]

/** `npm start`: the service on Node. */
import { serveNode } from './node-server.ts'
import { runService } from './service.ts'

await runService({ runtime: 'node', process, listen: serveNode })

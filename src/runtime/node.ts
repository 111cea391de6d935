/** `npm start`: the service on Node. */
import './exit-on-old-node.ts'
import { serveNode } from './node-server.ts'
import { runService } from './service.ts'

await runService({ runtime: 'node', process, listen: serveNode })

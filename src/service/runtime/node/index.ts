/** `npm start`: the service on Node. */
import './exit-on-old-node.ts'
import { runService } from '../service.ts'
import { serveNode } from './server.ts'

await runService({ runtime: 'node', process, listen: serveNode })

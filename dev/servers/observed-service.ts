/** The service as `npm start` runs it, with a SIGUSR2 that prints its memory, timers and sockets. */
import '../../src/service/runtime/node/index.ts'
import './print-inventory.ts'

/** `portico archive`. */
import { errorCode } from '../../shared/lib/error-code.ts'
import { errorMessage } from '../../shared/lib/error-message.ts'

interface Kit {
  runArchiver(queues: readonly string[]): Promise<void>
}

// The package's own entry. It needs the Temporal SDK's worker, which the service does not install.
const KIT: string = 'portico/worker'

export async function archive(queues: readonly string[]): Promise<void> {
  const kit: Kit = await import(KIT).catch((error: unknown) => {
    if (errorCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error
    if (errorMessage(error).includes('@temporalio'))
      throw new Error('portico archive requires @temporalio/worker and @temporalio/workflow; install them with npm')
    throw new Error('portico archive requires the npm package; install it, or in a clone run npm run build')
  })
  await kit.runArchiver(queues)
}

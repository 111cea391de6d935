/** Names that only one process can resolve: a hosts file of its own, in a mount namespace (Linux, as root). */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { processOf, type ServeEntry } from './entries.ts'

export interface HostsFile {
  /** Replaces the addresses of the name. Without any it does not resolve. */
  resolve(...addresses: string[]): Promise<void>
  /** A process that resolves names with this file alone. */
  processOf(...command: readonly string[]): ServeEntry
}

const MOUNT = 'mount --bind "$0" /etc/hosts && mount --bind "$1" /etc/nsswitch.conf && shift && exec "$@"'

export async function hostsFileOf(name: string, folder: string): Promise<HostsFile> {
  const hosts = join(folder, 'hosts')
  const order = join(folder, 'nsswitch.conf')
  // A name that is not in the file must not be asked of a name server.
  await writeFile(order, 'hosts: files\n')
  const resolve = (...addresses: string[]) =>
    writeFile(hosts, ['127.0.0.1 localhost', ...addresses.map((address) => `${address} ${name}`), ''].join('\n'))
  await resolve()
  return {
    resolve,
    processOf: (...command) => processOf('unshare', '--mount', 'sh', '-c', MOUNT, hosts, order, ...command),
  }
}

/** `npm run build:binary`: the executables for Linux, from `dist/` into `dist/bin/`. */
import { fileURLToPath } from 'node:url'
import { writeExecutable } from '../servers/executable.ts'

const dist = fileURLToPath(new URL('../../dist', import.meta.url))

for (const architecture of ['x64', 'arm64'] as const) {
  const path = `${dist}/bin/portico-linux-${architecture}`
  await writeExecutable(dist, path, architecture)
  console.log(path)
}

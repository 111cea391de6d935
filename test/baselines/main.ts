/** Writes the baselines of a release: `npm run baseline`. The test in `test/unit/baselines/` compares with them. */
import { writeFile } from 'node:fs/promises'
import { surface } from './surface.ts'

for (const [file, text] of Object.entries(await surface()))
  await writeFile(new URL(`released/${file}`, import.meta.url), text)

import { expect, test } from 'vitest'
import { VersioningBehavior } from '../../../../src/shared/temporal/enums.ts'
import { toPinnedVersion, toWorkerVersion } from '../../../../src/shared/temporal/worker-version.ts'

const OLD = { deploymentName: 'orders', buildId: '1' }
const NEW = { deploymentName: 'orders', buildId: '2' }

test('toWorkerVersion: is null for unversioned workers', () => {
  expect([null, {}, { deploymentName: 'orders', buildId: '' }].map(toWorkerVersion)).toEqual([null, null, null])
  expect(toWorkerVersion({ buildId: '1' })).toEqual({ deploymentName: '', buildId: '1' })
})

test.for([
  ['of a run that is not versioned', undefined, null],
  ['of an auto-upgrade run', { behavior: 2, deploymentVersion: OLD }, null],
  ['of a pinned run', { behavior: VersioningBehavior.PINNED, deploymentVersion: OLD }, OLD],
  [
    'of a pinned run with an auto-upgrade override',
    { behavior: VersioningBehavior.PINNED, deploymentVersion: OLD, versioningOverride: { autoUpgrade: true } },
    null,
  ],
  ['of a run pinned by an override', { versioningOverride: { pinned: { version: NEW } }, deploymentVersion: OLD }, NEW],
] as const)('toPinnedVersion: %s', ([, info, version]) => {
  expect(toPinnedVersion(info)).toEqual(version)
})

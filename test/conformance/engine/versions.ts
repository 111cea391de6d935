import type { VersioningBehavior } from '@temporalio/common'
import { expect, inject, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { startWorker } from '../../support/worker.ts'
import { call, type EngineFixture } from './engine-fixture.ts'

/** Runs of workers that use Worker Versioning. */
export function versions(fixture: EngineFixture): void {
  /** Starts a run on a worker with the current version. Resolves when the run has its versioning behavior. */
  async function startVersioned(defaultVersioningBehavior: VersioningBehavior, address: string) {
    const { connection, engine } = fixture
    const deploymentName = `deployment-${crypto.randomUUID()}`
    const version = { deploymentName, buildId: '1.0' }
    const workerDeploymentOptions = { useWorkerVersioning: true as const, version, defaultVersioningBehavior }
    const worker = await startWorker({ address, taskQueue: deploymentName, options: { workerDeploymentOptions } })
    await until('the version is the current one', async () => {
      const current = { namespace: 'default', deploymentName, buildId: version.buildId, identity: 'test' }
      return connection.workflowService.setWorkerDeploymentCurrentVersion(current).then(
        () => true,
        () => false,
      )
    })
    const request = { workflowId: crypto.randomUUID(), workflowName: 'neverEnds', catalog: deploymentName, args: [] }
    const run = await engine.start(request, call())
    await until('its first task is done', async () => (await engine.describe(run, call())).historyLength >= 4)
    return { run, worker, taskQueue: deploymentName }
  }

  test('describe: returns the version of a run that is pinned, by its worker or its start; otherwise null', async () => {
    const { address } = inject('engine')
    const [pinned, upgraded] = await Promise.all([
      startVersioned('PINNED', address),
      startVersioned('AUTO_UPGRADE', address),
    ])
    const unversioned = await fixture.start('neverEnds')
    const overrideVersion = { deploymentName: upgraded.taskQueue, buildId: '1.0' }
    const overridden = await fixture.engine.start(
      {
        workflowId: crypto.randomUUID(),
        workflowName: 'neverEnds',
        catalog: upgraded.taskQueue,
        args: [],
        options: { versioningOverride: { pinned: overrideVersion } },
      },
      call(),
    )
    const runs = [pinned.run, upgraded.run, unversioned, overridden]

    const described = await Promise.all(runs.map((run) => fixture.engine.describe(run, call())))

    const version = { deploymentName: pinned.taskQueue, buildId: '1.0' }
    expect(described.map(({ pinnedVersion }) => pinnedVersion)).toEqual([version, null, null, overrideVersion])
    expect(described.map(({ workerVersion }) => workerVersion)).toEqual([
      { ...version, pinned: true },
      { ...overrideVersion, pinned: false },
      null,
      { ...overrideVersion, pinned: true },
    ])
    await Promise.all(runs.map((run) => fixture.engine.terminate(run, null, call())))
    await Promise.all([pinned.worker, upgraded.worker].map((worker) => worker.stop()))
  })
}

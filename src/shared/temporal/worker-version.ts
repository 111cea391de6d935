/** Worker Versioning: https://docs.temporal.io/worker-versioning */
import type { temporal } from '@temporalio/proto'
import type { WorkerVersion } from '../wire/worker-version.ts'
import { VersioningBehavior } from './enums.ts'

type VersioningInfo = temporal.api.workflow.v1.IWorkflowExecutionVersioningInfo
type DeploymentVersion = temporal.api.deployment.v1.IWorkerDeploymentVersion

/** Null for unversioned workers. */
export function toWorkerVersion(version: DeploymentVersion | null | undefined): WorkerVersion | null {
  return version?.buildId ? { deploymentName: version.deploymentName ?? '', buildId: version.buildId } : null
}

/** The version that a run is on, and whether it stays there. Null for unversioned workers and before the first task. */
export function toRunVersion(info: VersioningInfo | null | undefined): (WorkerVersion & { pinned: boolean }) | null {
  const pinned = toPinnedVersion(info)
  const version = pinned ?? toWorkerVersion(info?.deploymentVersion)
  return version && { ...version, pinned: pinned !== null }
}

/** The version that a run stays on, whatever is deployed later; null for a run that is not pinned. */
export function toPinnedVersion(info: VersioningInfo | null | undefined): WorkerVersion | null {
  const override = info?.versioningOverride
  if (override ? override.autoUpgrade : info?.behavior !== VersioningBehavior.PINNED) return null
  const { deploymentName, buildId } =
    override?.pinned?.version ?? override?.oneTime?.targetDeploymentVersion ?? info?.deploymentVersion ?? {}
  return { deploymentName: deploymentName ?? '', buildId: buildId ?? '' }
}

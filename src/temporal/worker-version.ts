/** Worker Versioning: https://docs.temporal.io/worker-versioning */
import type { temporal } from '@temporalio/proto'
import type { WorkerVersion } from '../protocol/worker-version.ts'
import { VersioningBehavior } from './enums.ts'

type DeploymentVersion = temporal.api.deployment.v1.IWorkerDeploymentVersion

/** Null for unversioned workers. */
export function toWorkerVersion(version: DeploymentVersion | null | undefined): WorkerVersion | null {
  return version?.buildId ? { deploymentName: version.deploymentName ?? '', buildId: version.buildId } : null
}

/** The version that a run stays on, whatever is deployed later; null for a run that is not pinned. */
export function toPinnedVersion(
  info: temporal.api.workflow.v1.IWorkflowExecutionVersioningInfo | null | undefined,
): WorkerVersion | null {
  const override = info?.versioningOverride
  if (override ? override.autoUpgrade : info?.behavior !== VersioningBehavior.PINNED) return null
  const { deploymentName, buildId } =
    override?.pinned?.version ?? override?.oneTime?.targetDeploymentVersion ?? info?.deploymentVersion ?? {}
  return { deploymentName: deploymentName ?? '', buildId: buildId ?? '' }
}

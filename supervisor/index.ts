export { createSupervisor, type Supervisor, type SupervisorEvent, type SupervisorOptions } from './supervisor.ts'
export type { Notification, NotificationHandlers } from './follow-notifications.ts'
export { ServiceEnded } from './service-ended.ts'
export type { Exit, Ready, Secrets, ServiceChild, StartService } from './service-child.ts'

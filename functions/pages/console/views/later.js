// The views that a first visit does not need, as one bundle: each request for a file is a call of the function.
export { Audit } from "./audit.js";
export { Authority } from "./authority.js";
export { Certificate } from "./certificate.js";
export { Certification } from "./certification.js";
export { Company } from "./company.js";
export { Inbox } from "./inbox.js";
export { Issue } from "./issue.js";
export { Keys } from "./keys.js";
export { More } from "./more.js";
export { Sequences } from "./sequences.js";
export { Webhook, Webhooks } from "./webhooks.js";

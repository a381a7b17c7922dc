-- The uploaded logo of an organization, for installations without a network. The address of the logo is in branding.
CREATE TABLE branding_logos (
  organization_id TEXT PRIMARY KEY REFERENCES organizations (id),
  media_type TEXT NOT NULL CONSTRAINT branding_logos_media_type CHECK (media_type IN ('image/png', 'image/svg+xml')),
  bytes BLOB NOT NULL
) STRICT;

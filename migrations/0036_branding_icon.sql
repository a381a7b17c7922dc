-- The uploaded icon of an organization, beside the uploaded logo. The address of the icon is in branding.
CREATE TABLE branding_icons (
  organization_id TEXT PRIMARY KEY REFERENCES organizations (id),
  media_type TEXT NOT NULL CONSTRAINT branding_icons_media_type CHECK (media_type IN ('image/png', 'image/svg+xml')),
  bytes BLOB NOT NULL
) STRICT;
